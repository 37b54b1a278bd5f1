"""Schemas of reports: each record has a name of its own."""

from app.schema.reports import components
from sigtest.kinds import KINDS


def test_records_of_all_kinds_have_names_of_their_own() -> None:
    names = components(*(report for kind in KINDS.values() for report in kind.reports))
    assert set(names) >= {report.__name__ for kind in KINDS.values() for report in kind.reports}
    assert not [name for name in names if "__" in name]  # as pydantic tells two of one name apart
