"""The document names every field of a report."""

import re
from pathlib import Path

import pytest
from written import report

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("part", ["", "testset", "metrics", "systems", "pairs"])
def test_every_field_of_the_report_is_described(part):
    body = report().as_json()
    fields = {
        "": body,
        "testset": body["testset"],
        "metrics": body["metrics"]["bleu"],
        "systems": body["systems"][0]["scores"]["bleu"],
        "pairs": body["pairs"][0],
    }[part]
    described = (DOCS / "SERVICE.md").read_text(encoding="utf-8")
    for field in fields:
        assert re.search(rf"`(?:[\w.]+\.)?{field}`", described), field
