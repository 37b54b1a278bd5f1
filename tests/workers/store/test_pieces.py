"""How comparisons are cut."""

import json
from dataclasses import replace
from typing import Any

import pytest
from service import example

from sigtest.comparison.comparison import parse_comparison
from sigtest.kinds.comparisons import ComparisonQuestion
from workers.store.questions import Cut, Pieces
from workers.store.records import Task, owner_of


def question_of(segments: int, systems: int, **choices: Any) -> ComparisonQuestion:
    """A question of any size."""
    lines = ["the quick brown fox jumps over the lazy dog"] * (segments - 1)
    texts = [{"name": f"s{i}", "hypotheses": [f"fox {i}", *lines]} for i in range(systems)]
    body = {"references": [["a fox", *lines]], "systems": texts, "resamples": 2000, **choices}
    return ComparisonQuestion(parse_comparison(body))


def test_small_comparison_is_one_task_and_one_block():
    cut = Cut.of(question_of(2000, 2, resamples=9999), workers=2)
    assert cut.batches == [(0, 2)]
    assert cut.blocks == [(0, 9999)]


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_large_comparison_occupies_every_worker(workers):
    question = question_of(3000, 12, metrics=["bleu", "chrf", "ter"], resamples=99_999)
    cut = Cut.of(question, workers)
    assert len(cut.batches) >= min(workers, 12)
    assert len(cut.blocks) % workers == 0
    sizes = [stop - start for start, stop in cut.blocks]
    assert max(sizes) - min(sizes) <= len(cut.blocks)


def test_long_questions_give_way_often():
    metrics = ["bleu", "chrf", "ter"]
    short = question_of(3000, 3, metrics=metrics, resamples=99_999)
    long = question_of(100, 40, metrics=metrics, resamples=999_999)
    each = [q.drawing / len(Cut.of(q, workers=2).blocks) for q in (short, long)]
    assert 0.2 < each[0] <= 0.5
    assert 0.1 < each[1] <= 0.16


@pytest.mark.parametrize("systems", [12, 60])
def test_what_is_drawn_at_a_time_is_worth_loading_all_systems(systems):
    question = question_of(3000, systems, metrics=["bleu", "chrf", "ter"], resamples=159_999)
    cut = Cut.of(question, workers=2)
    numbers = 3000 * systems * sum(m.width for m in question.comparison.recipe.metrics)
    drawing = question.drawing / len(cut.blocks)
    assert numbers * 2e-7 < drawing < numbers * 6e-7  # about 5e-8 s each, and drawn in a sixth


@pytest.mark.parametrize("rows", [1, 64, 1000, 2000, 99_999, None])
def test_blocks_cover_every_resample_once(rows):
    cut = Cut.of(question_of(50, 3, resamples=2000), 2, rows)
    drawn = [i for start, stop in cut.blocks for i in range(start, stop)]
    assert drawn == list(range(2000))


def test_batches_cover_every_system_once():
    for systems in (2, 3, 7, 30):
        cut = Cut.of(question_of(3000, systems, metrics=["bleu", "chrf", "ter"]), 4)
        assert len(cut.batches) > 1
        assert [s for a, b in cut.batches for s in range(a, b)] == list(range(systems))


def test_equal_systems_are_measured_once():
    cut = Cut.of(ComparisonQuestion(example()), 2)
    assert len(cut.distinct_keys) == 4


def test_cut_survives_json():
    cut = Cut.of(ComparisonQuestion(example(metrics=["bleu", "ter"])), 2, 300)
    assert Cut.from_json(json.loads(json.dumps(vars(cut)))) == cut


def tasks(pieces: Pieces) -> list[Task]:
    return pieces.tasks("id")


def test_tasks_follow_what_is_missing():
    cut = Cut((("a", "b"), ("c", "d"), ("a", "b")), 1, 25, 10, measuring=6.0, computing=1.5)
    nothing = Pieces(cut, frozenset(), frozenset())
    assert tasks(nothing) == [Task("measure", "id", (s, s + 1)) for s in range(3)]
    measured = replace(nothing, measured=frozenset("abd"))
    assert tasks(measured) == [Task("measure", "id", (1, 2))]
    drawn = replace(nothing, measured=frozenset("abcd"), drawn=frozenset({(10, 20), (1, 2)}))
    assert tasks(drawn) == [Task("resample", "id", (0, 10)), Task("resample", "id", (20, 25))]
    assert drawn.progress.done == 10
    complete = replace(drawn, drawn=frozenset(cut.blocks))
    assert tasks(complete) == [Task("conclude", "id")]
    assert [entry.seconds for entry in nothing.tasks("id")] == [2.0] * 3
    assert [entry.seconds for entry in drawn.tasks("id")] == [0.5] * 2
    assert [entry.seconds for entry in complete.tasks("id")] == [0.0]


@pytest.mark.parametrize(("test", "numbers"), [("bootstrap", 5), ("bootstrap_t", 5 + 5 + 10)])
def test_what_blocks_hold_is_counted_with_the_pairs(test, numbers):
    question = question_of(8, 5, tests=[test], metrics=["bleu", "chrf"], resamples=300)
    assert Cut.of(question, workers=2).bytes == 8 * (2 * numbers * 300 + (10 + 18) * 5 * 8)


def test_question_without_pieces_is_one_task_with_its_whole_price():
    whole = Pieces(Cut((), 1, 0, 1, 0.0, 7.5), frozenset(), frozenset())
    (task,) = whole.tasks("id")
    assert (task, task.seconds) == (Task("conclude", "id"), 7.5)
    assert (whole.progress.phase, whole.progress.done) == ("report", 0)


def test_task_keys_tell_tasks_apart():
    assert Task("resample", "id", (0, 10)).key == "id-resample-0-10"
    assert Task("conclude", "id").key == "id-conclude"


def test_tasks_survive_being_spelled():
    for task in (Task("conclude", "id"), Task("resample", "id", (0, 10)), Task("a", "b", ("c d",))):
        assert Task.of(task.spelled) == task
    assert owner_of(Task("resample", "id", (0, 10)).key) == "id"
