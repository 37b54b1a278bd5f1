"""Canonical JSON: what is in it, and how it lies on the page."""

import json
from dataclasses import replace
from typing import Any

import pytest
from written import report

from sigtest.render.json import excerpt, render, with_pairs


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


@pytest.mark.parametrize(
    "names", [("A",), ("A", "B", "C"), ('"metric": "ter", "test": "x"', '"pairs": [\n', "é},")]
)
def test_pairs_of_one_metric_and_test_are_cut_out_and_put_back(names: tuple[str, ...]) -> None:
    tests = ["approximate_randomization", "bootstrap"]
    made = report(tests=tests) if len(names) > 1 else replace(report(), pairs=())
    if len(names) > 1:
        renamed = dict(zip("ABC", names, strict=True))
        pairs = [replace(pair, a=renamed[pair.a], b=renamed[pair.b]) for pair in made.pairs]
        made = replace(made, pairs=tuple(pairs))
    stored, body = render(made).encode(), made.as_json()
    columns = [(metric, test) for metric in ("bleu", "ter", "chrf") for test in tests]
    for metric, test in columns:
        expected = [row for row in body["pairs"] if (row["metric"], row["test"]) == (metric, test)]
        assert bool(expected) == (len(names) > 1 and metric != "chrf")
        bare, cut = excerpt(stored, metric, test)
        assert json.loads(bare) == {**body, "pairs": []}
        assert json.loads(b"[" + cut + b"]") == expected
        again = with_pairs(bare, cut)
        kept = [pair for pair in made.pairs if (pair.metric, pair.test) == (metric, test)]
        assert again == render(replace(made, pairs=tuple(kept))).encode()
