"""Accuracy of tests in every format: what tables say is what the report says."""

import csv
import io
import json
import re

import pytest
from studied import request

from sigtest.accuracy_of_tests.compute import compute
from sigtest.accuracy_of_tests.kind import KIND
from sigtest.accuracy_of_tests.question import parse
from sigtest.accuracy_of_tests.report import AccuracyReport
from sigtest.render.formats import FORMATS
from sigtest.render.model import ReportTable
from sigtest.report import decode

ALPHAS = [0.05, 0.001]


@pytest.fixture(scope="module")
def report() -> AccuracyReport:
    return compute(parse(request(alphas=ALPHAS)))


def tables(report: AccuracyReport, caption: str) -> list[ReportTable]:
    found = [
        block for block in KIND.present(report).document().flat() if isinstance(block, ReportTable)
    ]
    return [table for table in found if table.caption.startswith(caption)]


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "bibtex"])
def test_every_format_names_metrics_tests_and_levels(report, name):
    text = FORMATS[name].render(KIND.present(report)).replace("_", " ").replace("\\", "")
    for word in ("bleu", "chrf", "approximate randomization", "bootstrap", "0.05", "0.001"):
        assert word in text
    if name != "csv":
        assert "human alpha:same" in text


def test_correct_conclusions_are_counted_by_metric_and_test(report):
    found = tables(report, "Conclusions as people's, of 6 pairs")
    assert len(found) == len(ALPHAS)
    for table, alpha in zip(found, ALPHAS, strict=True):
        assert table.caption.endswith(f"alpha {alpha:g}")
        assert [cell.plain for cell in table.names[0].cells] == ["bleu", "chrf"]
        for group in table.groups:
            for i, metric in enumerate(("bleu", "chrf")):
                (row,) = (
                    row
                    for row in report.rows
                    if (row.metric, row.test.replace("_", " "), row.alpha)
                    == (metric, group.heading, alpha)
                )
                correct, percent, ends = (column.cells[i].plain for column in group.columns)
                assert correct == str(row.correct)
                assert percent == f"{100 * row.share:.1f}"
                assert ends == f"[{100 * row.ci[0]:.1f}, {100 * row.ci[1]:.1f}]"


def test_errors_are_counted(report):
    found = tables(report, "Errors and separated pairs")
    for table, alpha in zip(found, ALPHAS, strict=True):
        rows = [row for row in report.rows if row.alpha == alpha]
        for i, metric in enumerate(("bleu", "chrf")):
            own = [row for row in rows if row.metric == metric]
            for group, row in zip(table.groups, own, strict=True):
                counts = [int(column.cells[i].plain) for column in group.columns[:4]]
                assert counts == [row.reversed, row.claimed, row.missed, row.separated]


def test_people_chi_square_and_tests_side_by_side_are_said(report):
    text = FORMATS["text"].render(KIND.present(report))
    assert "People separate 5 of 6 pairs at level 0.05." in text
    assert text.count("chi-square with df 1:") == 2
    assert len(tables(report, "Agreement between tests")) == 2


def test_one_metric_and_one_test_have_nothing_to_be_compared_with():
    body = request(alphas=[0.05])
    body["comparison"] |= {"metrics": ["chrf"], "tests": ["bootstrap"]}
    report = compute(parse(body))
    assert not tables(report, "Agreement between tests")
    assert "chi-square with" not in FORMATS["text"].render(KIND.present(report))


def test_csv_has_every_row_unrounded(report):
    rows = list(csv.DictReader(io.StringIO(FORMATS["csv"].render(KIND.present(report)))))
    for row, own in zip(rows, report.rows, strict=True):
        assert (row["metric"], row["test"], float(row["alpha"])) == (
            own.metric,
            own.test,
            own.alpha,
        )
        assert (int(row["correct"]), int(row["n"])) == (own.correct, own.n)
        assert (float(row["ci_low"]), float(row["ci_high"])) == own.ci
        assert float(row["p_half"]) == own.p_half


def test_json_is_the_report_and_pages_draw_every_picture(report):
    body = json.loads(FORMATS["json"].render(KIND.present(report)))
    assert decode(AccuracyReport, body) == report
    page = FORMATS["html"].render(KIND.present(report))
    assert page.count("<svg") == 2 * len(ALPHAS)
    tests = {row.test for row in report.rows}
    pictures = "".join(re.findall("<svg.*?</svg>", page, re.S))
    assert all(test.replace("_", " ") in pictures for test in tests)
    assert not any(test in pictures for test in tests if "_" in test)
