"""What programs read: JSON and records."""

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest
from written import HOSTILE, hostile, rendered, report, with_pair

from sigtest.render.formats import FORMATS
from sigtest.render.records import excerpt, render_json, with_pairs
from sigtest.report import Report


@pytest.mark.parametrize("form", FORMATS)
def test_a_report_read_back_renders_to_the_same_bytes(form):
    made = report()
    again = Report.from_json(json.loads(rendered("json", made)))
    assert rendered(form, again) == rendered(form, made)


def test_json_keeps_every_name_and_number():
    made = hostile()
    assert json.loads(rendered("json", made)) == made.as_json()


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_csv_has_no_cell_that_a_spreadsheet_would_run():
    for name in ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\uff1d1"):
        made = report(("A", "B", name))
        cells = {row["b"] for row in rows(rendered("csv", made))}
        assert "'" + name in cells
        assert name not in cells


def test_csv_keeps_hostile_names_in_their_cells():
    read = rows(rendered("csv", hostile()))
    assert {row["a"].removeprefix("'") for row in read} == set(HOSTILE[:-1])


def test_csv_leaves_out_what_is_unknown():
    made = with_pair(report(), count=None, resamples=None)
    first = rows(rendered("csv", made))[0]
    assert (first["count"], first["resamples"]) == ("", "")


class Body:
    """Anything that is to be written."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.body = body

    def as_json(self) -> dict[str, Any]:
        return self.body


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"a": [], "b": {}, "c": None, "d": [[]], "e": [{}]},
        {"a": [{"b": [1, 2.5], "c": {"d": [1e-300, True]}}, {"b": [], "c": {}}]},
        {"a": [{"rows": [{"x": 1}, {"x": 2}]}, {"rows": []}], "b": {"rows": [{"y": "z"}]}},
        {'é"\u2028': "\u2028\\\0,%d", "b": [{"c": "}\n]"}]},
    ],
)
def test_the_standard_library_reads_what_was_written(body):
    assert json.loads(render_json(Body(body))) == body


def test_every_field_system_and_pair_has_a_line():
    made = replace(report(("a", "b", "c")), methods=None)  # which has rows inside a field
    lines = render_json(made).splitlines()
    body = made.as_json()
    rows = [row for field in ("systems", "pairs", "warnings") for row in body[field]]
    assert len(lines) == 2 + len(body) + len(rows) + 3  # braces, and the ends of three lists
    within = [json.loads(line.rstrip(",")) for line in lines if line.startswith("  {")]
    assert within == rows


def test_every_field_has_a_line_where_there_are_no_rows():
    assert render_json(Body({"a": 1, "systems": []})) == '{\n "a": 1,\n "systems": []\n}\n'


def test_numbers_that_json_cannot_say():
    with pytest.raises(ValueError, match="JSON"):
        render_json(Body({"a": [1.0, float("nan")]}))


@pytest.mark.parametrize(
    "names", [("A",), ("A", "B", "C"), ('"metric": "ter", "test": "x"', '"pairs": [\n', "é},")]
)
def test_pairs_of_one_metric_and_test_are_cut_out_and_put_back(names):
    tests = ["approximate_randomization", "bootstrap"]
    made = report(tests=tests) if len(names) > 1 else replace(report(), pairs=())
    if len(names) > 1:
        renamed = dict(zip("ABC", names, strict=True))
        pairs = [replace(pair, a=renamed[pair.a], b=renamed[pair.b]) for pair in made.pairs]
        made = replace(made, pairs=tuple(pairs))
    stored, body = render_json(made).encode(), made.as_json()
    columns = [(metric, test) for metric in ("bleu", "ter", "chrf") for test in tests]
    for metric, test in columns:
        expected = [row for row in body["pairs"] if (row["metric"], row["test"]) == (metric, test)]
        assert bool(expected) == (len(names) > 1 and metric != "chrf")
        bare, cut = excerpt(stored, metric, test)
        assert json.loads(bare) == {**body, "pairs": []}
        assert json.loads(b"[" + cut + b"]") == expected
        again = with_pairs(bare, cut)
        kept = [pair for pair in made.pairs if (pair.metric, pair.test) == (metric, test)]
        assert again == render_json(replace(made, pairs=tuple(kept))).encode()
