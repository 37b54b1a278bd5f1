"""Human evaluations as people read them."""

from typing import Any

import pytest
from service import EXAMPLE

from sigtest.people.compute import compute
from sigtest.people.kind import KIND
from sigtest.people.question import parse
from sigtest.people.report import HumanReport
from sigtest.render.formats import FORMATS

CAMPAIGN = EXAMPLE.parent / "campaign" / "judgements.tsv"
FOUR = {"best_old": "aspen", "best_new": "birch", "current_old": "cedar", "current_new": "dogwood"}


def evaluated(judgements: Any = None, **choices: Any) -> HumanReport:
    files = [] if judgements else [(CAMPAIGN.name, CAMPAIGN.read_bytes())]
    return compute(parse({**({"judgements": judgements} if judgements else {}), **choices}, files))


def shown(report: HumanReport, form: str = "text") -> str:
    return FORMATS[form].render(KIND.present(report))


def rows(scores: dict[str, list[float]], annotator: str = "x") -> list[dict[str, Any]]:
    return [
        {"annotator": annotator, "system": name, "segment": i, "score": score}
        for name, own in scores.items()
        for i, score in enumerate(own)
    ]


@pytest.fixture(scope="module")
def report() -> HumanReport:
    return evaluated(quality={"test": "paired_t"}, longitudinal=FOUR, resamples=499)


def test_nothing_is_said_where_all_count():
    text = shown(evaluated(rows({"A": [1, 2, 3], "B": [3, 2, 2]})))
    assert "left out" not in text
    assert "Annotators: 1, none of them tested; counted: all." in text
    assert "counted: all." in " ".join(text.split())


def test_means_that_came_standardised_are_called_so_and_count_their_judgements():
    text = b"SYS SID RAW.SCR Z.SCR N\nA 1 50 -0.5 3\nA 2 60 0.5 1\nB 1 70 1.5 2\nB 2 75 1.6 1\n"
    brought = shown(compute(parse({}, [("ad-seg-scores.csv", text)])))
    assert brought.startswith("7 judgements; adequacy; standardised: in the files")
    assert "in 7 judgements" in " ".join(brought.split())
    assert "Scores were already standardised in the files" in " ".join(brought.split())
    plain = shown(evaluated(rows({"A": [1, 2, 3], "B": [3, 2, 2]}), standardise="none"))
    assert "standardised: none" in plain
    assert "already standardised" not in plain


def test_annotators_without_variance_are_named_where_nothing_is_left():
    alike = rows({"A": [5, 5], "B": [5, 5]})
    with pytest.raises(Exception, match=r"Rows left out: annotator without variance 4\."):
        evaluated(alike)
    also = [*rows({"A": [1, 2], "B": [3, 4]}, "y"), *alike]
    text = shown(evaluated(also))
    assert "Of 8 rows, 4 count; left out: annotator without variance 4." in text


def test_small_raw_scores_have_decimals_enough():
    penalties = rows({"A": [-0.1, -0.7], "B": [-0.2, -0.5]})
    text = shown(evaluated(penalties, standardise="none", scale=[-25, 0]))
    assert "raw and interval" in text
    assert "-0.40" in text
    assert "-0.35" in text
    assert "-0.05" in text  # the difference
    assert "62.8" in shown(evaluated())


def test_gain_has_the_columns_of_the_published_tables(report):
    text = shown(report)
    table = text[text.index("\nGain\n") :].splitlines()
    gain = report.gain[0].criteria["fluency"]
    row = next(line for line in table if line.split()[:2] == ["fluency", "z"])
    for figure in ("current_old", "current_new", "best_old", "best_new"):
        assert f" {getattr(gain.z, figure):.3f} " in row
    assert f"{gain.z.gain:+.3f}" in row
    raw = next(line for line in table if line.split()[:2] == ["fluency", "raw"])
    assert f"{gain.raw.gain:+.1f}" in raw


def test_f1_of_two_gains_is_said():
    better = {**FOUR, "best_old": "elm", "current_old": "aspen"}
    found = evaluated(longitudinal=better, resamples=99)
    assert found.gain[0].f1_z == pytest.approx(
        2 / sum(1 / own.z.gain for own in found.gain[0].criteria.values())
    )
    assert f"F1 of the gains of adequacy and fluency: {found.gain[0].f1_z:.3f} (z)" in shown(found)
