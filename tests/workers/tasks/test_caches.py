"""What is cached: for one caller, for an hour, and believed no further than it can be read."""

import io
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from byhand import finish, missing, perform
from service import CALLER, Comparisons, example, in_process, synthetic

from sigtest.comparison.comparison import Comparison
from sigtest.comparison.plan import Part
from sigtest.engine import distribute
from sigtest.version import __version__
from workers.errors import ConflictError
from workers.questions import Status
from workers.queue import Context
from workers.store import codec, keys
from workers.store.cache import Cache
from workers.store.records import Progress
from workers.tasks.run import run

OTHER = "somebody else"
FEW = {"resamples": 200}  # what is cached, statistics of texts, does not depend on them
VERSIONS = (
    "sigtest.comparison.plan.__version__",
    "workers.store.questions.MAKE",
    "workers.store.questions.MAKE",
)


def cached(context: Context, caller: str) -> dict[bytes, bytes]:
    redis = context.questions.redis
    found = redis.keys(f"sigtest:cache:{keys.space_of(caller)}:*")
    return {key: redis.get(key) for key in found}  # type: ignore[misc]  # they exist


def test_equal_texts_of_another_caller_are_measured_anew(jobs, context):
    first, _ = jobs.submit(example(**FEW), CALLER)
    finish(context, first.id)
    second, created = jobs.submit(example(**FEW), OTHER)
    assert created
    assert second.id != first.id
    assert second.progress == first.progress == Progress("statistics", 0, 4)
    assert jobs.find(second.id, OTHER).progress == second.progress
    assert missing(context, second.id)[0].name == "measure"
    mine, theirs = cached(context, CALLER), cached(context, OTHER)
    assert len(mine) == 4
    assert not theirs
    finish(context, second.id)
    theirs = cached(context, OTHER)
    assert cached(context, CALLER) == mine
    assert not mine.keys() & theirs.keys()
    assert sorted(mine.values()) == sorted(theirs.values())
    assert jobs.report(second.id, OTHER) == jobs.report(first.id, CALLER)


def test_acceptance_tells_nothing_of_what_a_caller_has_cached(jobs, context):
    first, _ = jobs.submit(example(seed=1, **FEW), CALLER)
    finish(context, first.id)
    known, _ = jobs.submit(example(seed=2, **FEW), CALLER)
    new, _ = jobs.submit(example(seed=2, **FEW), OTHER)
    assert known.progress == new.progress
    assert known.status == new.status == Status.QUEUED


def test_caches_live_an_hour_after_their_last_use(jobs, context):
    record, _ = jobs.submit(example(**FEW), CALLER)
    finish(context, record.id)
    redis = context.questions.redis
    found = redis.keys("sigtest:cache:*")
    assert {redis.ttl(key) for key in found} <= set(range(3500, 3601))
    for key in found:
        redis.expire(key, 60)
    again, _ = jobs.submit(example(seed=5, **FEW), CALLER)
    finish(context, again.id)
    assert {redis.ttl(key) for key in found} <= set(range(3500, 3601))
    cache = context.questions.cache(keys.space_of(CALLER))
    cache.add_values("ann", "drawn", 1.0, np.arange(3.0))
    place = keys.cached(keys.space_of(CALLER), "drawn")
    redis.expire(place, 60)
    assert cache.values("drawn") is not None
    assert redis.ttl(place) in range(3500, 3601)


def _saved(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


Poison = Callable[[bytes, dict[bytes, bytes]], bytes]
POISONS: dict[str, Poison] = {
    "nothing": lambda entry, others: b"",
    "no array": lambda entry, others: b"no array at all",
    "archive": lambda entry, others: b"PK\x03\x04",
    "text": lambda entry, others: _saved(np.array([["x"] * 3] * 138)),
    "fewer segments": lambda entry, others: codec.pack_statistics(np.zeros((137, 10))),
    "unsealed": lambda entry, others: entry[codec.SEAL_BYTES :],
    "one bit": lambda entry, others: entry[:-9] + bytes([entry[-9] ^ 1]) + entry[-8:],
    "cut off": lambda entry, others: entry[:-10],
    "another system's": lambda entry, others: next(e for e in others.values() if e != entry),
}


@pytest.mark.parametrize("poison", POISONS.values(), ids=POISONS)
def test_a_poisoned_entry_is_computed_anew(jobs, context, poison):
    first, _ = jobs.submit(example(seed=1, **FEW), CALLER)
    finish(context, first.id)
    healthy = cached(context, CALLER)
    for key, entry in healthy.items():
        context.questions.redis.set(key, poison(entry, healthy), ex=3600)
    comparison = example(seed=2, metrics=["bleu"], **FEW)
    second, _ = jobs.submit(comparison, CALLER)
    finish(context, second.id)
    assert jobs.find(second.id, CALLER).status is Status.SUCCEEDED
    assert jobs.report(second.id, CALLER) == in_process(comparison)
    assert cached(context, CALLER) == healthy


@pytest.mark.parametrize("poison", [b"", b"nonsense", _saved(np.array(1.0))])
def test_a_poisoned_distribution_is_made_again(jobs, context, poison):
    comparison = example()
    record, _ = jobs.submit(comparison, CALLER)
    finish(context, record.id)
    asked = (record.id, CALLER, "aspen", "elm", "bleu", "approximate_randomization")
    before = set(cached(context, CALLER))
    run(context, "distribute", [record.id, 0, 0, 4, 0, 0])
    (entry,) = set(cached(context, CALLER)) - before
    context.questions.redis.set(entry, poison)
    assert jobs.distribution(*asked, False) is None
    run(context, "distribute", [record.id, 0, 0, 4, 0, 0])
    made = jobs.distribution(*asked, True)
    assert made is not None
    expected = distribute(comparison, "aspen", "elm", "bleu", "approximate_randomization")
    assert made.values.tobytes() == expected.values.tobytes()


def test_spaces_are_apart(context, jobs):
    first, second = (Cache(context.questions.redis, space, 60) for space in ("one", "two"))
    first.add("ann", {"name": np.ones((2, 3))})
    first.add_values("ann", "values", 1.0, np.arange(3.0))
    assert first.existing(["name", "other"]) == {"name"}
    assert first.find(["name"]).keys() == {"name"}
    assert not second.existing(["name"])
    assert not second.find(["name"])
    assert second.values("values") is None


# another version


def begun_elsewhere(jobs: Comparisons, context: Context, comparison: Comparison, tasks: int) -> str:
    """A comparison that version 0.0.1 accepted, and of which it did some tasks."""
    with pytest.MonkeyPatch.context() as patch:
        for version in VERSIONS:
            patch.setattr(version, "0.0.1")
        record, _ = jobs.submit(replace(comparison), CALLER)
        for _ in range(tasks):
            perform(context, missing(context, record.id)[:1])
    if tasks:  # what it drew is not what this version draws
        redis, blocks = context.questions.redis, f"sigtest:blocks:{record.id}"
        names = redis.hkeys(blocks)
        assert len(names) == tasks
        for name in names:
            assert name.startswith(b"0.0.1 ")
            redis.hset(blocks, name, b"blocks of another make")
    return record.id


@pytest.mark.parametrize("tasks", [0, 1, 3])
def test_what_another_version_accepted_is_computed_by_this_one(jobs, context, tasks):
    comparison = example(metrics=["bleu", "ter"])
    name = begun_elsewhere(jobs, context, comparison, tasks)
    for key in cached(context, CALLER):
        context.questions.redis.set(key, b"statistics of another make")
    assert jobs.find(name, CALLER).progress == Progress("statistics", 0, 8)
    rounds = 0
    while context.questions.unfinished(name):
        perform(context, missing(context, name))
        rounds += 1
        assert rounds < 5
    record = jobs.find(name, CALLER)
    assert (record.status, record.error) == (Status.SUCCEEDED, None)
    assert record.computed_with == __version__ != "0.0.1"
    assert jobs.report(name, CALLER) == in_process(comparison)


def test_versions_have_keys_of_their_own(jobs, context):
    name = begun_elsewhere(jobs, context, example(), 0)
    record, created = jobs.submit(example(), CALLER)
    assert created
    assert record.id != name
    part: Part = example().plan.parts[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sigtest.comparison.plan.__version__", "0.0.1")
        assert part.statistics_key(0, part.recipe.metrics[0]) not in missing_keys(
            context, record.id
        )


def test_what_was_submitted_before_an_upgrade_is_not_submitted_again(jobs, context):
    """A client repeats a request whose answer was lost, and meets the new version."""
    with pytest.MonkeyPatch.context() as patch:
        for version in VERSIONS:
            patch.setattr(version, "0.0.1")
        first, _ = jobs.submit(example(), CALLER, "once")
    again, created = jobs.submit(example(), CALLER, "once")
    assert (again.id, created) == (first.id, False)
    with pytest.raises(ConflictError):
        jobs.submit(example(seed=7), CALLER, "once")
    finish(context, first.id)
    assert jobs.submit(example(), CALLER, "once")[0].id == first.id
    jobs.remove(first.id, CALLER)
    anew, created = jobs.submit(example(), CALLER, "once")
    assert created
    assert anew.id != first.id


def missing_keys(context: Context, question_id: str) -> list[str]:
    return context.questions.pieces(question_id).cut.distinct_keys


def test_only_a_success_says_what_computed_it(jobs, context):
    record, _ = jobs.submit(synthetic(1, segments=20), CALLER)
    assert record.computed_with is None
    context.questions.commit(record.id, Status.FAILED, "bad luck")
    assert jobs.find(record.id, CALLER).computed_with is None
    again, _ = jobs.submit(synthetic(1, segments=20), CALLER)
    finish(context, again.id)
    assert jobs.find(again.id, CALLER).computed_with == __version__
