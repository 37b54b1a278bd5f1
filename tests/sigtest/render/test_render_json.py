"""Canonical JSON: what is in it, and how it lies on the page."""

import json
from dataclasses import replace
from typing import Any

import pytest
from written import report

from sigtest.render.json import of_metric, render


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
def test_the_standard_library_reads_what_was_written(body: dict[str, Any]) -> None:
    assert json.loads(render(Body(body))) == body


def test_every_field_system_and_pair_has_a_line() -> None:
    made = replace(report(("a", "b", "c")), methods=None)  # which has rows inside a field
    lines = render(made).splitlines()
    body = made.as_json()
    rows = [row for field in ("systems", "pairs") for row in body[field]]
    assert len(lines) == 2 + len(body) + len(rows) + 2  # braces, and the ends of two lists
    within = [json.loads(line.rstrip(",")) for line in lines if line.startswith("  {")]
    assert within == rows


def test_every_field_has_a_line_where_there_are_no_rows() -> None:
    assert render(Body({"a": 1, "systems": []})) == '{\n "a": 1,\n "systems": []\n}\n'


def test_numbers_that_json_cannot_say() -> None:
    with pytest.raises(ValueError, match="JSON"):
        render(Body({"a": [1.0, float("nan")]}))


@pytest.mark.parametrize("metric", ["bleu", "ter"])
@pytest.mark.parametrize(
    "names", [("A",), ("A", "B", "C"), ('"metric": "ter", "test": "x"', '"pairs": [\n', "é},")]
)
def test_only_the_pairs_of_one_metric_are_left(metric: str, names: tuple[str, ...]) -> None:
    made = report() if len(names) > 1 else replace(report(), pairs=())
    if len(names) > 1:
        renamed = dict(zip("ABC", names, strict=True))
        pairs = [pair._replace(a=renamed[pair.a], b=renamed[pair.b]) for pair in made.pairs]
        made = replace(made, pairs=tuple(pairs))
    expected = made.as_json()
    expected["pairs"] = [pair for pair in expected["pairs"] if pair["metric"] == metric]
    assert bool(expected["pairs"]) == (len(names) > 1)
    assert json.loads(of_metric(render(made).encode(), metric)) == expected
