"""How comparisons are cut."""

from dataclasses import replace
from typing import Any

import pytest
from service import example, synthetic

from sigtest.comparison.plan import Plan
from workers.store.pieces import Cut, Pieces, Task


def plan_of(segments: int, systems: int, **choices: Any) -> Plan:
    """A plan of any size, without its texts."""
    plan = synthetic(0, segments=2, systems=systems, **choices).plan
    return replace(plan, segments=segments)


def test_small_comparison_is_one_task_and_one_block() -> None:
    cut = Cut.of(plan_of(2000, 2, resamples=9999), workers=2)
    assert cut.batches == [(0, 2)]
    assert cut.blocks == [(0, 9999)]


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_large_comparison_occupies_every_worker(workers: int) -> None:
    plan = plan_of(3000, 12, metrics=["bleu", "chrf", "ter"], resamples=99_999)
    cut = Cut.of(plan, workers)
    assert len(cut.batches) >= min(workers, 12)
    assert len(cut.blocks) % workers == 0
    sizes = [stop - start for start, stop in cut.blocks]
    assert max(sizes) - min(sizes) <= len(cut.blocks)


@pytest.mark.parametrize("rows", [1, 64, 1000, 2000, 99_999, None])
def test_blocks_cover_every_resample_once(rows: int | None) -> None:
    cut = Cut.of(plan_of(50, 3, resamples=2000), 2, rows)
    drawn = [i for start, stop in cut.blocks for i in range(start, stop)]
    assert drawn == list(range(2000))


def test_batches_cover_every_system_once() -> None:
    for systems in (2, 3, 7, 30):
        cut = Cut.of(plan_of(30_000, systems), 4)
        assert [s for a, b in cut.batches for s in range(a, b)] == list(range(systems))


def test_equal_systems_are_measured_once() -> None:
    cut = Cut.of(example().plan, 2)
    assert len(cut.distinct_keys) == 4


def test_cut_survives_json() -> None:
    cut = Cut.of(example(metrics=["bleu", "ter"]).plan, 2, 300)
    assert Cut.from_json(cut.as_json()) == cut


def test_tasks_follow_what_is_missing() -> None:
    cut = Cut(keys=(("a", "b"), ("c", "d"), ("a", "b")), batch=1, resamples=25, rows=10)
    nothing = Pieces(cut, frozenset(), frozenset())
    assert nothing.tasks("id") == [Task("measure", "id", (s, s + 1)) for s in range(3)]
    measured = replace(nothing, measured=frozenset("abd"))
    assert measured.tasks("id") == [Task("measure", "id", (1, 2))]
    drawn = replace(nothing, measured=frozenset("abcd"), drawn=frozenset({(10, 20), (1, 2)}))
    assert drawn.tasks("id") == [
        Task("resample", "id", (0, 10)),
        Task("resample", "id", (20, 25)),
    ]
    assert drawn.progress.done == 10
    complete = replace(drawn, drawn=frozenset(cut.blocks))
    assert complete.tasks("id") == [Task("conclude", "id")]


def test_task_keys_tell_tasks_apart() -> None:
    assert Task("resample", "id", (0, 10)).key == "id-resample-0-10"
    assert Task("conclude", "id").key == "id-conclude"
