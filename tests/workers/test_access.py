"""Keys in the store: what is kept of them, and what cannot be made."""

import pytest
from service import Comparisons

from sigtest.errors import SigtestError
from workers.access import Access, digest_of
from workers.errors import NotFoundError


@pytest.fixture
def access(jobs: Comparisons) -> Access:
    return Access(jobs.questions.context.questions.redis)


def test_the_store_never_sees_a_key(access, jobs):
    key, secret = access.add("ann", ["submit", "read"], days=30, budget=600)
    redis = jobs.questions.context.questions.redis
    everything = repr(redis.hgetall("sigtest:access"))
    assert secret not in everything
    assert secret.removeprefix("sigtest_") not in everything
    assert access.known(digest_of(secret)) == (key, True)
    assert key.scopes == ("read", "submit")
    assert key.expires_at == pytest.approx(key.created_at + 30 * 86_400)
    assert access.listing() == [key]


def test_keys_are_found_whole_only(access):
    _, secret = access.add("ann", ["read"])
    for wrong in ("", secret[:-1], secret + "a", secret.upper(), "\udcff"):
        assert access.known(digest_of(wrong)) == (None, True)


def test_without_keys_there_are_none(access):
    assert access.known(digest_of("anything")) == (None, False)
    assert access.listing() == []


def test_all_keys_of_a_holder_are_revoked_together_or_one_by_one(access):
    first, _ = access.add("ann", ["read"])
    second, secret = access.add("ann", ["read"])
    third, _ = access.add("bob", ["read"])
    assert [key.id for key in access.revoke(second.id)] == [second.id]
    assert access.known(digest_of(secret)) == (None, True)
    assert [key.id for key in access.revoke("ann")] == [first.id]
    assert [key.revoked for key in access.listing()] == [True, True, False]
    with pytest.raises(NotFoundError, match="ann"):
        access.revoke("ann")
    assert access.listing()[-1] == third


def test_a_key_is_revoked_in_a_full_store(access, jobs):
    _, secret = access.add("ann", ["read"])
    jobs.questions.context.redis.config_set("maxmemory", 1)
    access.revoke("ann")
    assert access.known(digest_of(secret)) == (None, True)


@pytest.mark.parametrize(
    ("name", "scopes", "days", "budget"),
    [
        ("<ann>", ["read"], None, None),
        ("ann", ["write"], None, None),
        ("ann", ["read"], 0, None),
        ("ann", ["read"], None, -1),
    ],
)
def test_senseless_keys_are_not_made(access, name, scopes, days, budget):
    with pytest.raises(SigtestError):
        access.add(name, scopes, days, budget)
    assert access.listing() == []
