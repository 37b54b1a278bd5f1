"""Schemas of reports: each record has a name of its own."""

from dataclasses import make_dataclass

import pytest

from app.schema.reports import components
from sigtest.kinds import KINDS


def test_records_of_all_kinds_have_names_of_their_own() -> None:
    reports = [report for kind in KINDS.values() for report in kind.reports]
    assert set(components(*reports)) >= {report.__name__ for report in reports}


def test_two_records_of_one_name_are_refused() -> None:
    first, second = (make_dataclass("Row", [("n", int)], namespace={"__doc__": ""}) for _ in "ab")
    with pytest.raises(TypeError, match="one name"):
        components(first, second)
