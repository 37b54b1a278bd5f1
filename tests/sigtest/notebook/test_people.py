"""The notebook's functions `human`, `meta` and `accuracy`: every way of bringing things."""

import copy
import doctest
import gzip
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from service import EXAMPLE

import sigtest
from sigtest import notebook
from sigtest.errors import InputError
from sigtest.kinds import KINDS, FormFile
from sigtest.meta_evaluation.report import MetaReport
from sigtest.people.compute import compute
from sigtest.people.question import parse
from sigtest.people.report import HumanReport
from sigtest.render.formats import FORMATS

CAMPAIGN = EXAMPLE.parent / "campaign" / "judgements.tsv"
SCORES = CAMPAIGN.parent / "scores"
CAREFUL = {"test": "paired_t"}
FRAME = pandas.read_csv(CAMPAIGN, sep="\t", dtype={"segment": str})
PEOPLE = {"aspen": 0.47, "birch": 0.55, "cedar": 0.15, "dogwood": 0.12, "elm": -0.55}


def without_sources(report: HumanReport) -> dict[str, Any]:
    """What a report says but for where the judgements came from."""
    return {name: value for name, value in vars(report).items() if name != "sources"}


def scores(label: str) -> dict[str, float]:
    rows = (line.split("\t") for line in (SCORES / f"{label}.tsv").read_text().splitlines())
    return {name: float(score) for name, score in rows}


def test_the_examples_in_the_documentation_run():
    tried = doctest.testmod(notebook, extraglobs={"sigtest": sigtest})
    assert tried.attempted > 6
    assert tried.failed == 0


@pytest.mark.parametrize(
    "brought",
    [
        lambda folder: str(CAMPAIGN),
        lambda folder: CAMPAIGN,
        lambda folder: [CAMPAIGN],
        lambda folder: packed(folder),
        lambda folder: FRAME,
        lambda folder: FRAME.rename(columns={"segment": "seg_id", "annotator": "Rater"}),
        lambda folder: FRAME.to_dict("records"),
        lambda folder: FRAME.to_dict("list"),
        lambda folder: {name: FRAME[name] for name in FRAME.columns},
        lambda folder: iter(FRAME.to_dict("records")),
    ],
    ids=[
        "text",
        "path",
        "paths",
        "gzip",
        "frame",
        "headings",
        "rows",
        "columns",
        "series",
        "iterator",
    ],
)
def test_judgements_come_in_any_shape(tmp_path, brought):
    expected = compute(parse({"quality": CAREFUL}, [("judged.tsv", CAMPAIGN.read_bytes())]))
    found = sigtest.human(brought(tmp_path), quality=CAREFUL)
    assert without_sources(found) == without_sources(expected)


def packed(folder: Path) -> Path:
    path = folder / "judged.tsv.gz"
    path.write_bytes(gzip.compress(CAMPAIGN.read_bytes()))
    return path


def test_missing_numbers_of_a_data_frame_are_missing():
    holes = FRAME.copy()
    holes.loc[:9, "seconds"] = np.nan
    found = sigtest.human(holes)
    assert found.systems == sigtest.human(FRAME).systems


def test_what_stands_twice_is_refused_instead_of_dropped():
    twice = pandas.concat([FRAME, FRAME["score"]], axis=1)
    with pytest.raises(sigtest.InputError, match=r"^judgements has .* named 'score'"):
        sigtest.human(twice)
    human = pandas.Series({"a": 1.0, "b": 2.0, "c": 3.0})
    metric = pandas.Series([1.0, 2.0, 3.0, 4.0], index=["a", "b", "c", "c"])
    for gold, scores in ((human, metric), (metric, human)):
        with pytest.raises(sigtest.InputError, match=r"^scores has .* named 'c'"):
            sigtest.meta(gold, {"x": scores})


def test_choices_may_be_numbers_of_numpy():
    choices = {"resamples": 99, "seed": 3, "test": "approximate_randomization"}
    found = sigtest.human(FRAME, **choices | {"resamples": np.int64(99), "seed": np.uint8(3)})
    assert found.signature == sigtest.human(FRAME, **choices).signature


def test_metrics_come_as_paths_mappings_and_series():
    files = [FormFile("scores", f"{label}.tsv", (SCORES / f"{label}.tsv").read_bytes())
             for label in ("bleu", "ter")]  # fmt: skip
    files.append(FormFile("judgements", "judged.tsv", CAMPAIGN.read_bytes()))
    request = {
        "human": {"quality": CAREFUL, "criteria": ["fluency"]},
        "metrics": {"bleu": {}, "ter": {"higher": False}}, "resamples": 99,
    }  # fmt: skip
    kind = KINDS["metric-evaluations"]
    expected = kind.compute(kind.parse(request, files))
    for bleu in (SCORES / "bleu.tsv", scores("bleu"), pandas.Series(scores("bleu"))):
        found = sigtest.meta(
            CAMPAIGN, {"bleu": bleu, "ter": str(SCORES / "ter.tsv")}, lower=["ter"],
            quality=CAREFUL, criteria=["fluency"], resamples=99,
        )  # fmt: skip
        assert isinstance(found, MetaReport)
        assert vars(found) == vars(expected)
    assert "Pearson" in str(found)


def test_a_table_of_scores_that_cannot_be_used_is_named_by_its_path(tmp_path):
    broken = tmp_path / "broken.tsv"
    broken.write_text("A 1\nB x\n")
    with pytest.raises(InputError, match=r"broken\.tsv, line 2: 'x' is not a number"):
        sigtest.meta(CAMPAIGN, {"bleu": broken})


def test_people_bring_scores_or_judgements(tmp_path):
    table = tmp_path / "people.tsv"
    table.write_text("".join(f"{name}\t{score}\n" for name, score in PEOPLE.items()))
    metrics = {"bleu": scores("bleu")}
    found = [
        sigtest.meta(brought, metrics, resamples=99)
        for brought in (PEOPLE, pandas.Series(PEOPLE), table, {"system": PEOPLE})
    ]
    assert {system.human for system in found[0].sets[0].systems} == set(PEOPLE.values())
    assert all(vars(report) == vars(found[0]) for report in found[1:])
    judged = [sigtest.meta(b, metrics, resamples=99).sets for b in (CAMPAIGN, FRAME)]
    assert judged[0] == judged[1] != found[0].sets


def test_several_sets_are_those_of_a_request():
    sets = {
        name: {
            "human": {"scores": {"system": PEOPLE}},
            "metrics": {"bleu": {"system": {**PEOPLE, "elm": shift}}},
        }
        for name, shift in (("de-en", 0.1), ("en-de", 0.5))
    }
    kind = KINDS["metric-evaluations"]
    found = sigtest.meta(sets=sets, statistics=["accuracy"])
    assert vars(found) == vars(kind.compute(kind.parse({"sets": sets, "statistics": ["accuracy"]})))


def test_missing_scores_of_arrays_are_missing():
    rng = np.random.default_rng(6)
    human = {name: rng.normal(size=12) for name in PEOPLE}
    holes = {name: np.where(np.arange(12) == 3, np.nan, row) for name, row in human.items()}
    plain = {name: [None if i == 3 else v for i, v in enumerate(row.tolist())]
             for name, row in human.items()}  # fmt: skip
    choices: dict[str, Any] = {"level": "segment", "resamples": 99, "statistics": ["pearson"]}
    found, expected = (sigtest.meta(human, {"m": own}, **choices) for own in (holes, plain))
    assert vars(found) == vars(expected)


class Series:
    """What polars has for a column, and nothing of NumPy's."""

    def __init__(self, entries: list[float]) -> None:
        self._entries = entries

    def to_list(self) -> list[float]:
        return list(self._entries)


def test_scores_of_segments_come_as_lists_arrays_and_series():
    rng = np.random.default_rng(5)
    human, metric = ({name: rng.normal(size=20) for name in PEOPLE} for _ in range(2))
    lists = [{name: row.tolist() for name, row in table.items()} for table in (human, metric)]
    choices: dict[str, Any] = {"level": "segment", "resamples": 99, "statistics": ["pearson"]}
    arrays = sigtest.meta(human, {"m": metric}, **choices)
    assert vars(arrays) == vars(sigtest.meta(lists[0], {"m": lists[1]}, **choices))
    series = [{name: Series(row) for name, row in table.items()} for table in lists]
    assert vars(arrays) == vars(sigtest.meta(series[0], {"m": series[1]}, **choices))
    r = np.corrcoef(np.concatenate(list(human.values())), np.concatenate(list(metric.values())))
    assert arrays.metrics[0].pearson is not None
    assert arrays.metrics[0].pearson.value == pytest.approx(r[0, 1])


def test_an_evalset_comes_as_a_directory(data):
    found = sigtest.meta(
        evalset=data / "wmt23.he-en", lp="he-en", gold="mqm", metrics=["BLEU-refB", "chrF-refB"],
        resamples=99, statistics=["pearson"],
    )  # fmt: skip
    assert [metric.label for metric in found.metrics] == ["BLEU-refB", "chrF-refB"]
    one = sigtest.meta(
        evalset=data / "wmt23.he-en", lp="he-en", gold="mqm", metrics="BLEU-refB",
        statistics=["pearson"],
    )  # fmt: skip
    assert [metric.label for metric in one.metrics] == ["BLEU-refB"]


def test_tests_are_held_against_judgements():
    def lines(path: Path) -> list[str]:
        return path.read_text(encoding="utf-8").splitlines()

    references = lines(EXAMPLE / "reference.en")
    systems = {path.stem: lines(path) for path in sorted((EXAMPLE / "systems").iterdir())}
    compared = {"metrics": ["bleu"], "tests": ["bootstrap"], "resamples": 99}
    request = {
        "human": {"quality": CAREFUL},
        "comparison": {"references": references, "systems": systems, **compared},
        "alphas": [0.05],
    }
    kind = KINDS["test-accuracy"]
    files = [FormFile("judgements", "judged.tsv", CAMPAIGN.read_bytes())]
    expected = kind.compute(kind.parse(request, files))
    found = sigtest.accuracy(
        CAMPAIGN, references, systems, alphas=[0.05], quality=CAREFUL, **compared
    )
    assert vars(found) == vars(expected)
    assert "Conclusions as people's" in str(found)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: sigtest.human(None), "judgements is missing: paths of files"),
        (lambda: sigtest.human({}), "lists of equal lengths, by name: system, segment, score"),
        (lambda: sigtest.human(3), "judgements must be"),
        (lambda: sigtest.human(FRAME, qualty=CAREFUL), "Did you mean 'quality'"),
        (lambda: sigtest.human(FRAME[:0]), "judgements has a data frame without rows"),
        (lambda: sigtest.human(FRAME.assign(score="good")), "the data frame, line 1: 'good'"),
        (lambda: sigtest.human({"system": ["A"], "score": [1, 2]}), "equal lengths"),
        (
            lambda: sigtest.human({"system": "A", "score": 1}),
            "must be columns, lists of equal lengths",
        ),
        (
            lambda: sigtest.accuracy(
                FRAME, ["a"] * 200, {name: [name] * 200 for name in FRAME["system"]}, alphas=0.05
            ),
            "alphas must be a list",
        ),
        (lambda: sigtest.meta(PEOPLE, {"bleu": PEOPLE}, lower="belu"), "Did you mean 'bleu'"),
        (lambda: sigtest.meta(PEOPLE), "metrics must have the scores of each metric"),
        (lambda: sigtest.meta(PEOPLE, {"bleu": 3}), "Scores must be a path, or numbers by system"),
        (lambda: sigtest.meta(PEOPLE, {"bleu": PEOPLE}, lower=["belu"]), "Did you mean 'bleu'"),
        (
            lambda: sigtest.meta(PEOPLE, evalset=EXAMPLE),
            "more is better; leave out judgements and lower",
        ),
        (lambda: sigtest.meta(evalset=EXAMPLE, lp="de-en", gold="x"), "human-scores"),
        (lambda: sigtest.meta(PEOPLE, {}), r'such as \{"bleu": \{"A": 31'),
        (lambda: sigtest.meta(None, {"bleu": PEOPLE}), "judgements by people, or their scores"),
        (lambda: sigtest.meta(PEOPLE, {"bleu": PEOPLE}, human=PEOPLE), "leave human out"),
        (lambda: sigtest.meta(evalset=EXAMPLE, lower="TER"), "leave out judgements and lower"),
    ],
)
def test_what_cannot_be_used_is_said_in_words(ask, said):
    with pytest.raises(sigtest.SigtestError, match=said):
        ask()


@pytest.mark.parametrize(
    ("path", "ask"),
    [
        (
            "comparisons",
            lambda: sigtest.compare(["a b", "c d"], {"x": ["a b", "c"], "y": ["a", "c d"]}),
        ),
        ("human-evaluations", lambda: sigtest.human(CAMPAIGN)),
        ("metric-evaluations", lambda: sigtest.meta(PEOPLE, {"x": PEOPLE, "y": scores("ter")})),
        (
            "test-accuracy",
            lambda: sigtest.accuracy(
                FRAME,
                ["a b c d"] * 200,
                {name: [f"{name} b c d"] * 200 for name in FRAME["system"]},
                resamples=99,
            ),
        ),
        (
            "plans",
            lambda: sigtest.plan(scores={"a": [0.1, 0.5, 0.9] * 9, "b": [0.4, 0.2, 0.7] * 9}),
        ),
    ],
    # races have no door in notebooks yet
    ids=[path for path in KINDS if path != "sequential-comparisons"],
)
def test_reports_of_every_kind_become_files_tables_and_data_frames(path, ask, tmp_path):
    found, kind = ask(), KINDS[path]
    for form in FORMATS.values():
        found.save(tmp_path / f"report.{form.suffix}")
        written = (tmp_path / f"report.{form.suffix}").read_bytes()
        assert written == form.render(kind.present(found)).encode()
    assert "caption{Mine" in found.to_latex(caption="Mine.")
    assert found.to_latex() == found.to_latex(kind.tables[0])
    frame = found.to_pandas()
    sheet = kind.present(found).sheet()
    assert list(frame.columns) == list(sheet.columns)
    assert len(frame) == len(list(sheet.rows)) > 0
    with pytest.raises(sigtest.RecipeError, match=r"'report\.docx' does not say .* \.html"):
        found.save(tmp_path / "report.docx")
    with pytest.raises(sigtest.RecipeError, match="table"):
        found.to_latex("tabel")
    assert repr(found) == str(found) == FORMATS["text"].render(kind.present(found))
    assert found == ask()
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert again == found
        assert again._repr_html_() == found._repr_html_()
