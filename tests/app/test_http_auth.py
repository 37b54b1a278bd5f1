"""Keys: who may ask, for what, and whose comparisons are whose."""

import math
import socket
import time
from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest
from exchange import COMPARISONS, Serve, ServeOn, problem
from service import until

from app.http import auth
from app.http.auth import is_loopback
from app.settings import Settings
from workers.access import Access
from workers.settings import Settings as QueueSettings
from workers.store import server

KEYS = Settings.model_validate({"SIGTEST_API_KEYS": "ann:secret-a,bob:secret-b"})
ANN = {"Authorization": "Bearer secret-a"}
BOB = {"X-API-Key": "secret-b"}


@pytest.fixture
def guarded(serve: Serve) -> httpx.Client:
    return serve(KEYS)


@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Bearer wrong"}, {"X-API-Key": ""}, {"Authorization": "Basic secret-a"}],
)
def test_a_key_is_needed(guarded, stored, body, headers):
    before = stored()
    response = guarded.post(COMPARISONS, json=body | {"seed": 300}, headers=headers)
    problem(response, 401, "unauthorized")
    assert response.headers["www-authenticate"].startswith("Bearer")
    assert "SIGTEST_API_KEY" in response.json()["detail"]  # for those who ask from the shell
    problem(guarded.get(COMPARISONS, headers=headers), 401, "unauthorized")
    assert stored() == before


def test_probes_need_no_key(guarded):
    assert guarded.get("/").status_code == 200
    assert guarded.get("/healthz").status_code == 200
    assert guarded.get("/readyz").status_code == 200


def test_callers_do_not_see_each_other(guarded, body):
    headers = ANN | {"Prefer": "wait=30"}
    url = guarded.post(COMPARISONS, json=body, headers=headers).headers["location"]
    assert guarded.get(url, headers=ANN).status_code == 200
    for path in ("", "/report", "/events"):
        problem(guarded.get(url + path, headers=BOB), 404, "not-found")
    problem(guarded.delete(url, headers=BOB), 404, "not-found")
    listed = guarded.get(COMPARISONS, headers=BOB).json()["comparisons"]
    assert url.rpartition("/")[2] not in {entry["id"] for entry in listed}
    other = guarded.post(COMPARISONS, json=body, headers=BOB).headers["location"]
    assert other != url


@pytest.fixture(scope="module")
def keys_alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QueueSettings]:
    """A store of its own, where nobody works: a service with a key never opens again."""
    queue = QueueSettings(state=tmp_path_factory.mktemp("keyed"))
    store = server.EmbeddedServer(queue)
    store.ensure()
    yield queue
    store.stop()


@pytest.fixture
def keyed(keys_alone: QueueSettings, serve_on: ServeOn) -> Iterator[tuple[httpx.Client, Access]]:
    """Its front end, and the keys in it."""
    with closing(server.connect(keys_alone)) as redis:
        yield serve_on(Settings(), keys_alone), Access(redis)


def held(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def test_a_key_of_the_store_opens_and_closes_at_once(keyed, body):
    client, access = keyed
    assert client.get(COMPARISONS).status_code == 200  # open, as long as there is no key
    key, secret = access.add("carol", ["read", "submit"])
    problem(client.get(COMPARISONS), 401, "unauthorized")
    answer = client.post(COMPARISONS, json=body, headers=held(secret))
    assert answer.status_code == 202
    access.revoke(key.id)
    problem(client.get(answer.headers["location"], headers=held(secret)), 401, "unauthorized")
    problem(client.get(COMPARISONS), 401, "unauthorized")  # and stays closed to strangers
    _, another = access.add("carol", ["read"])  # a key is not its holder
    assert client.get(answer.headers["location"], headers=held(another)).status_code == 200


@pytest.mark.parametrize(
    ("scopes", "reads", "submits"),
    [(["read"], 200, 403), (["submit"], 403, 202), (["admin"], 403, 403), ([], 403, 403)],
)
def test_scopes_say_what_a_key_is_for(keyed, body, scopes, reads, submits):
    client, access = keyed
    _, secret = access.add(f"holder of {scopes or 'nothing'}".replace("'", ""), scopes)
    assert client.get(COMPARISONS, headers=held(secret)).status_code == reads
    assert client.head(COMPARISONS, headers=held(secret)).status_code == reads
    answer = client.post(COMPARISONS, json=body, headers=held(secret))
    assert answer.status_code == submits
    if submits == 403:
        assert "scope submit" in problem(answer, 403, "forbidden")["detail"]
        assert client.delete(f"{COMPARISONS}/{'0' * 32}", headers=held(secret)).status_code == 403


def test_a_key_ends_when_it_was_said_to(keyed):
    client, access = keyed
    _, secret = access.add("dan", ["read"], days=4 / 86_400)
    assert client.get(COMPARISONS, headers=held(secret)).status_code == 200
    until(lambda: client.get(COMPARISONS, headers=held(secret)).status_code != 200)
    problem(client.get(COMPARISONS, headers=held(secret)), 401, "unauthorized")


def test_a_key_has_a_budget_of_its_own(keyed, body):
    client, access = keyed
    _, poor = access.add("eve", ["read", "submit"], budget=1)
    _, rich = access.add("eve", ["read", "submit"])
    large = body | {"resamples": 104_166, "metrics": ["bleu", "chrf", "ter"]}
    large["systems"] = [system | {"name": f"{system['name']}{i}"} for system in body["systems"]
                        for i in range(40)]  # fmt: skip
    refused = problem(client.post(COMPARISONS, json=large, headers=held(poor)), 413, "too-costly")
    assert refused["limit"] == "SIGTEST_BUDGET"
    assert refused["predicted"]["accepted_seconds"] == 1
    needed = math.ceil(refused["predicted"]["seconds"])
    _, enough = access.add("eve", ["read", "submit"], budget=needed)
    first = client.post(COMPARISONS, json=large, headers=held(enough))
    assert first.status_code == 202
    second = client.post(COMPARISONS, json=large | {"seed": 2}, headers=held(enough))
    told = problem(second, 429, "busy")["predicted"]
    assert told["unfinished_seconds"] == told["seconds"] > needed - 1
    assert int(second.headers["retry-after"]) > 60
    third = client.post(COMPARISONS, json=large | {"seed": 3}, headers=held(rich))
    assert third.status_code == 202
    for answer in (first, third):
        client.delete(answer.headers["location"], headers=held(rich))


def test_who_tries_many_keys_has_to_wait(guarded):
    client = guarded
    for number in range(auth.FREE):
        problem(client.get(COMPARISONS, headers=held(f"guess {number}")), 401, "unauthorized")
    refused = client.get(COMPARISONS, headers=held("another guess"))
    problem(refused, 429, "wrong-keys")
    wait = int(refused.headers["retry-after"])
    assert f"wait {wait} s before the next" in refused.json()["detail"]
    assert 1 <= wait <= 2
    problem(client.get(COMPARISONS, headers=ANN), 429, "wrong-keys")  # or guessing would go on
    time.sleep(wait)
    assert client.get(COMPARISONS, headers=ANN).status_code == 200
    problem(client.get(COMPARISONS, headers=held("guess")), 401, "unauthorized")
    assert int(client.get(COMPARISONS, headers=held("guess")).headers["retry-after"]) >= 2


def test_keys_of_the_store_do_not_wait_for_those_who_guess(keyed):
    client, access = keyed
    _, secret = access.add("fay", ["read"])
    answers = [client.get(COMPARISONS, headers=held("guess")) for _ in range(auth.FREE + 1)]
    assert answers[-1].status_code == 429
    assert client.get(COMPARISONS, headers=held(secret)).status_code == 200


def test_other_machines_need_a_key_or_an_open_service(service, queue, serve_on):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.connect(("192.0.2.1", 9))  # sends nothing; says which address would be used
        own = asked.getsockname()[0]
    if is_loopback(own):
        pytest.skip("this machine has no address that others could reach")
    for settings, status in ((Settings(), 403), (Settings(open=True), 200), (KEYS, 200)):
        inside = serve_on(settings, queue, "0.0.0.0")
        assert inside.get(COMPARISONS, headers=ANN).status_code == 200
        outside = str(inside.base_url.copy_with(host=own)).rstrip("/")
        assert httpx.get(outside + COMPARISONS, headers=ANN).status_code == status
        assert httpx.get(outside + "/healthz").status_code == 200


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.5", False),
        ("::ffff:10.0.0.1", False),
        ("example.org", False),
    ],
)
def test_which_addresses_are_this_machines(host, own):
    assert is_loopback(host) is own
