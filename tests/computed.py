"""From the JSON of a request to the JSON of its report, in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sigtest.comparison.parse import parse_comparison
from sigtest.comparison.plan import Plan
from sigtest.decide.facts import gather
from sigtest.decide.summary import summarise
from sigtest.draws.sample import Block, Sample
from sigtest.engine import compare
from sigtest.render.comparison import present
from sigtest.render.formats import FORMATS
from sigtest.report import Report


def report_of(body: dict[str, Any]) -> dict[str, Any]:
    """What a request for one test set, or for several, gets."""
    return compare(parse_comparison(body)).as_json()


def reduced(sample: Sample, blocks: Sequence[Block]) -> Report:
    """The report of one test set, from blocks that together hold every resample once."""
    return summarise(Plan((sample.part,)), [gather(sample, list(blocks))])


def rendered(form: str, report: Report) -> str:
    """A report in one of the formats."""
    return FORMATS[form].render(present(report))
