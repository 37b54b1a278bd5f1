"""Metric evaluations in every format: what tables say is what the report says."""

import re

import pytest
from scored import SYSTEMS, request
from sentences import sentences

from sigtest.kinds import KINDS
from sigtest.meta_evaluation.compute import compute
from sigtest.meta_evaluation.kind import KIND
from sigtest.meta_evaluation.question import parse
from sigtest.meta_evaluation.report import MetaReport
from sigtest.render.formats import FORMATS, Layout
from sigtest.render.model import ReportTable


def tables(report: MetaReport) -> list[ReportTable]:
    return [
        block for block in KIND.present(report).document().flat() if isinstance(block, ReportTable)
    ]


def shown(table: ReportTable) -> list[list[str]]:
    return [["" if cell is None else cell.plain for cell in row] for row in table.rows()]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", [name for name in FORMATS if name != "bibtex"])
@pytest.mark.parametrize("level", ["system", "segment"])
@pytest.mark.parametrize("statistics", [["pearson"], ["pearson", "accuracy_ties"]])
def test_people_who_find_all_alike_leave_empty_cells(name, level, statistics):
    asked = request(level=level, statistics=statistics, resamples=19)
    human = asked["human"]["scores"]
    human["system"] = dict.fromkeys(human["system"], 1.0)
    human["segment"] = {system: [1.0] * len(own) for system, own in human["segment"].items()}
    found = compute(parse(asked))
    assert {metric.pearson.value for metric in found.metrics} == {None}
    text = FORMATS[name].render(KIND.present(found))
    assert all(label in text for label in ("COMET", "BLEU", "TER")) or name == "csv"


def test_facts_say_how_many_segments_people_judged():
    asked = request(segments=40, level="segment", statistics=["pearson"], resamples=99)
    for scores in asked["human"]["scores"]["segment"].values():
        scores[:15] = [None] * 15
    assert KIND.present(compute(parse(asked))).document().facts[1] == "40 segments, 25 judged"
    asked = request(segments=40, level="segment", statistics=["pearson"], resamples=99)
    assert KIND.present(compute(parse(asked))).document().facts[1] == "40 segments"


def test_folds_of_pairs_say_which_they_are():
    """Eleven metrics have 55 pairs, which are folded, a table for each statistic and test."""
    asked = request(resamples=99)
    own = next(iter(asked["metrics"].values()))
    asked["metrics"] = {f"m{i}": own for i in range(11)}
    asked.pop("baseline", None)
    report = compute(parse(asked))
    page = FORMATS["html"].render(KIND.present(report))
    folds = re.findall(r"<summary>(All .*)</summary>", page)
    assert "All 55 pairs by Pearson&#x27;s r, Williams test" in folds
    assert len(set(folds)) == len(folds) > 1
    text = FORMATS["text"].render(KIND.present(report))
    assert text.count("Not listed: 55 of 55 pairs, in all 0 are separated.") == len(folds)
    assert "m9" not in text.split("Pairs by", 1)[1].split("Warning")[0]
    alone = KINDS["metric-evaluations"].lay_out(report, Layout("pairs"))
    assert FORMATS["text"].render(alone).count("not separated") == 55 * len(folds)


def test_one_metric_is_told_of_as_one():
    asked = request(resamples=99)
    asked["metrics"] = dict([next(iter(asked["metrics"].items()))])
    report = compute(parse(asked))
    assert KIND.present(report).document().title == "Evaluation of 1 metric"
    assert report.methods.text.startswith("1 metric was compared with people's scores of ")
    assert not any("PERM-BOTH" in said or "Williams" in said for said in sentences(report))


@pytest.mark.parametrize(
    ("choices", "headings", "of"),
    [({}, ["p, a is better", "p, b is better", "adjusted"],
      ["p_greater", "p_less", "p_adjusted"]),
     ({"alternative": "less"}, ["p, a is better", "p, b is better", "adjusted"],
      ["p_greater", "p_less", "p_adjusted"]),
     ({"alternative": "less", "correction": "none"}, ["p, a is better", "p, b is better"],
      ["p_greater", "p_less"]),
     ({"alternative": "two-sided"}, ["p", "adjusted"], ["p_value", "p_adjusted"]),
     ({"alternative": "two-sided", "correction": "none"}, ["p"], ["p_value"])],
)  # fmt: skip
def test_pairs_show_the_p_values_of_both_claims(choices, headings, of):
    report = compute(parse(request(statistics=["pearson"], tests=["williams"], **choices)))
    (table,) = tables(report)[1:]
    (group,) = table.groups
    columns = {column.heading: column.cells for column in group.columns}
    assert [heading for heading in columns if heading in {"p", *headings}] == headings
    for heading, field in zip(headings, of, strict=True):
        found = [cell.p for cell in columns[heading]]
        assert found == [getattr(pair, field) for pair in report.pairs]


@pytest.mark.parametrize(
    ("alternative", "order"),
    [("two-sided", 1), ("less", 1), ("greater", 1), ("greater", -1), ("less", -1)],
)
def test_conclusions_name_the_winner_in_any_order(alternative, order):
    body = request(segments=400, alternative=alternative, level="segment", statistics=["pearson"])
    body["metrics"] = dict([*body["metrics"].items()][::order])
    report = compute(parse(body))
    for test in ("williams", "perm_both"):
        (pair,) = (p for p in report.pairs if {p.a, p.b} == {"COMET", "TER"} and p.test == test)
        assert pair.significant
        assert getattr(pair, pair.conclusion) == "COMET"
    said = FORMATS["text"].render(KIND.present(report))
    assert "COMET is better" in said


def test_two_sided_pairs_that_do_not_differ_are_not_separated():
    report = compute(parse(request(alternative="two-sided", statistics=["kendall"])))
    assert not any(pair.significant for pair in report.pairs)
    text = FORMATS["text"].render(KIND.present(report))
    assert text.count("not separated") == len(report.pairs)
    assert "is better" not in text


def test_sets_have_sections_and_all_of_them_a_table():
    sets = {name: {k: request(seed=i)[k] for k in ("human", "metrics")}
            for i, name in enumerate(("de-en", "he-en"))}  # fmt: skip
    report = compute(parse({"sets": sets, "statistics": ["pearson", "accuracy"]}))
    made = KIND.present(report).document()
    assert "on 2 sets" in made.title
    captions = [table.caption for table in tables(report)]
    assert captions[:3] == ["Metrics over all sets", "Metrics, de-en", "Metrics, he-en"]
    pairs = next(table for table in tables(report) if table.things == "pairs")
    assert [row[0] for row in shown(pairs)] == ["de-en"] * 3 + ["he-en"] * 3
    text = FORMATS["text"].render(KIND.present(report))
    assert (
        text.count("Significantly better than BLEU (corrected for comparisons with it alone):") == 2
    )


def test_what_is_not_defined_is_empty():
    flat = request(statistics=["pearson"])
    flat["metrics"]["TER"]["system"] = dict.fromkeys(SYSTEMS, 1.0)
    report = compute(parse(flat))
    last = shown(tables(report)[0])[-1]
    assert last[0] == "TER"
    assert "" in last
    assert "not tested" in FORMATS["text"].render(KIND.present(report))


def test_metrics_without_tests_have_no_ranks_and_no_pairs():
    report = compute(parse(request(tests=[], statistics=["kendall"])))
    (table,) = tables(report)
    assert [column.heading for column in table.columns] == ["metric", "value", "interval"]
    assert "alpha" not in "".join(KIND.present(report).document().facts)
