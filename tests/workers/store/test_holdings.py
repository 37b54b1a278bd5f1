"""Nobody holds more of the store than is left for others."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from redis import Redis
from service import Comparisons, synthetic

from sigtest.comparison.comparison import Comparison, parse_comparison
from workers.errors import FullError
from workers.settings import Settings
from workers.store import keys
from workers.store.cache import Cache
from workers.store.server import EmbeddedServer, connect
from workers.store.usage import all_held, check_room

MEGABYTE = 2**20
HEAVY = 400_000  # bytes of a heavy question, compressed: three texts


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state=tmp_path, memory=12 * MEGABYTE)


@pytest.fixture
def redis(settings: Settings) -> Iterator[Redis]:
    """A store without a supervisor."""
    server = EmbeddedServer(settings)
    server.ensure()
    with closing(connect(settings)) as client:
        yield client
    server.stop()


@pytest.fixture
def jobs(redis: Redis, settings: Settings) -> Iterator[Comparisons]:
    with closing(Comparisons.connect(settings)) as made:
        yield made


def heavy(seed: int) -> Comparison:
    """A question whose texts cannot be compressed: equal lines lie too far apart for that."""
    words = [os.urandom(300).hex() for _ in range(HEAVY // 3 // 300)]
    outputs = {"a": [words[1], words[0], *words[2:]], "b": [*words[:-2], words[-1], words[-2]]}
    systems = [{"name": name, "hypotheses": lines} for name, lines in outputs.items()]
    little = {"metrics": ["ter"], "resamples": 99}  # to be kept besides
    body: dict[str, Any] = {"references": words, "systems": systems, "seed": seed, **little}
    return parse_comparison(body)


def test_all_of_a_caller_is_counted_and_nothing_of_others(jobs, redis):
    jobs.submit(synthetic(0, segments=5), "bob:of:b")
    before = redis.info("memory")["used_memory"]
    made = [jobs.submit(heavy(seed), "ann")[0].id for seed in range(3)]
    taken = redis.info("memory")["used_memory"] - before
    counted = all_held(redis)
    assert counted["ann"] > 3 * HEAVY
    assert 0.7 * taken < counted["ann"] < 1.1 * taken  # the server has buffers, too
    assert 1000 < counted["bob:of:b"] < 20_000
    noise = np.random.default_rng(0).standard_normal((MEGABYTE // 8, 1))
    Cache(redis, keys.space_of("bob:of:b"), 60).add("bob:of:b", {"a": noise})
    assert all_held(redis)["bob:of:b"] > counted["bob:of:b"] + MEGABYTE
    assert all_held(redis)["ann"] == counted["ann"]
    for name in made:
        jobs.remove(name, "ann")
    assert all_held(redis)["ann"] < 0.1 * HEAVY


def filled(jobs: Comparisons, caller: str) -> tuple[list[str], str]:
    """Submit until it is refused: ids, and the refusal."""
    made = []
    for seed in range(60):
        try:
            made.append(jobs.submit(heavy(seed), caller)[0].id)
        except FullError as error:
            return made, error.message
    raise AssertionError("it is never full")


def test_who_holds_more_than_is_left_stores_nothing_new(jobs, redis, settings):
    made, told = filled(jobs, "ann")
    assert "more than the" in told
    assert 0.3 * settings.memory < len(made) * HEAVY < 0.5 * settings.memory
    of_bob, told = filled(jobs, "bob")
    assert "You hold" in told
    assert 0.5 < len(of_bob) / (len(made) / 2) < 1.2  # half of what ann left
    jobs.submit(synthetic(0, segments=5), "cy")
    for name in made[: len(made) // 2]:
        jobs.remove(name, "ann")
    jobs.submit(heavy(99), "bob")
    jobs.submit(heavy(99), "ann")


def test_where_there_are_no_keys_one_may_fill_it(jobs, redis, settings):
    made, told = filled(jobs, keys.ANONYMOUS)
    assert "You hold" not in told
    assert len(made) * HEAVY > 0.55 * settings.memory


def test_a_disk_counts_as_the_memory_does(jobs, redis, settings, monkeypatch):
    for seed in range(4):
        jobs.submit(heavy(seed), "ann")
    free = settings.free + redis.info("memory")["used_memory"] + 2 * MEGABYTE
    monkeypatch.setattr("workers.store.usage.disk_free", lambda settings: free)
    with pytest.raises(FullError, match="You hold"):
        check_room(redis, settings, "ann")
    check_room(redis, settings, "bob")
