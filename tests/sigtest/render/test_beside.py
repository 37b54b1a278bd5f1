"""What stands beside scores and intervals, so that nobody reads more into them than they say."""

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

import sigtest
from sigtest.render.formats import FORMATS, Layout
from sigtest.report import Report

OUTPUT = ["the cat sat on the mat today", "it rains in the north", "we all go home now"]
REFERENCE = ["the cat sat on a mat today", "it rains in the far north", "we go home right now then"]


def text(report: Report, table: str | None = None, form: str = "text") -> str:
    from sigtest.render.comparison import present

    shown = FORMATS[form].render(present(report, Layout(table=table)))
    return " ".join(shown.split())


def test_bleu_has_its_parts_beside_it():
    report = sigtest.compare(references=REFERENCE, systems={"a": OUTPUT}, metrics=["bleu"])
    told = BLEU().corpus_score(OUTPUT, [REFERENCE])
    found = report.systems[0].scores["bleu"].counts
    assert [found[f"precision_{n}"] for n in (1, 2, 3, 4)] == pytest.approx(told.precisions)
    assert found["brevity_penalty"] == pytest.approx(told.bp)
    assert found["length_ratio"] == pytest.approx(told.sys_len / told.ref_len)
    shown = text(report)
    assert "/".join(f"{own:.1f}" for own in told.precisions) in shown
    assert f"{told.bp:.3f}" in shown


def test_an_empty_output_has_no_precision():
    report = sigtest.compare(references=REFERENCE, systems={"a": [""] * 3}, metrics=["bleu"])
    found = report.systems[0].scores["bleu"].counts
    assert {*found.values()} == {0.0}


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html"])
def test_pairs_say_where_intervals_and_corrected_p_disagree(form):
    rng = np.random.default_rng(5)
    scores = {f"s{i}": rng.normal(0.09 * i, 1.0, 200) for i in range(5)}
    report = sigtest.compare(scores=scores, resamples=1999)
    against = sum(pair.significant == (pair.ci[0] <= 0 <= pair.ci[1]) for pair in report.pairs)
    assert against > 1
    shown = text(report, "pairs", form)
    assert f"p is corrected for 10 comparisons; of {against} pairs interval and p disagree" in shown


def test_a_lone_pair_says_where_its_interval_and_its_p_disagree():
    """Five items of twelve are right for one system alone: 2 / 2**5 = .0625, [.037, .677]."""
    scores = {"new": [1] * 10 + [0] * 2, "old": [0] * 5 + [1] * 5 + [0] * 2}
    report = sigtest.compare(scores=scores)
    (pair,) = report.pairs
    assert (pair.p_value, pair.ci[0] > 0) == (0.0625, True)
    shown = text(report, "pairs")
    assert "Intervals come not from the tests; of 1 pair interval and p disagree" in shown


@pytest.mark.parametrize("choices", [{"correction": "none"}, {"pairs": {"baseline": "s0"}}])
def test_a_lone_or_uncorrected_p_does_not_disagree(choices):
    scores = {f"s{i}": np.arange(40.0) % (i + 2) for i in range(2)}
    report = sigtest.compare(scores=scores, resamples=999, **choices)  # type: ignore[arg-type]
    assert "each pair alone" not in text(report)


def test_who_may_be_best_is_marked_where_other_seeds_could_decide_otherwise():
    rng = np.random.default_rng(11)
    scores = {f"s{i}": rng.normal(0.2 * i, 1.0, 60) for i in range(4)}
    seen = sigtest.compare(scores=scores, resamples=1999)
    p = sorted(own.scores["scores"].p_best or 0.0 for own in seen.systems)[1]
    report = sigtest.compare(scores=scores, resamples=1999, alpha=p)
    board = text(report, "board")
    assert "?" in board.partition("more resamples could change")[0]
    assert "more resamples could change" in board
    far = sigtest.compare(scores=scores, resamples=1999, alpha=0.5)
    assert all(
        not low <= 0.5 < high
        for own in far.systems
        for low, high in [own.scores["scores"].p_best_interval or (0.0, 0.0)]
    )
