"""Reports of every kind, laid out as a reader wants them."""

import pytest
from answered import REPORTS

from sigtest.errors import RecipeError
from sigtest.kinds import KINDS
from sigtest.render.formats import FORMATS, Layout
from sigtest.render.model import ReportTable
from sigtest.report import encode, names_in, renamed_in

NAMED = {
    "human-evaluations": "aspen",
    "metric-evaluations": "bleu",
    "test-accuracy": "bleu",
    "plans": "a",
    "sequential-comparisons": "a",
}


def tables(presented):
    return [block for block in presented.document().flat() if isinstance(block, ReportTable)]


@pytest.mark.parametrize("path", REPORTS)
def test_every_table_can_be_shown_alone_with_caption_and_label(path):
    kind, report = KINDS[path], REPORTS[path]()
    everything = tables(kind.present(report))
    assert {table.name for table in everything} <= set(kind.tables)
    for name in {table.name for table in everything}:
        own = [table for table in everything if table.name == name]
        shown = tables(kind.lay_out(report, Layout(name, "Mine", "tab:mine")))
        assert [table.groups for table in shown] == [table.groups for table in own]
        captions = ["Mine"] if len(own) == 1 else [f"Mine. {table.caption}" for table in own]
        assert [table.caption for table in shown] == captions
        assert len({table.label for table in shown}) == len(own)
        assert shown[0].label == "tab:mine"
    with pytest.raises(RecipeError, match=f"Unknown table 'matrices'.*{everything[0].name}"):
        kind.lay_out(report, Layout("matrices"))


@pytest.mark.parametrize(("path", "name"), NAMED.items())
def test_names_are_shown_as_asked_and_the_json_stays(path, name):
    kind, report = KINDS[path], REPORTS[path]()
    laid_out = kind.lay_out(report, Layout(names=(rf"{name}=Mine $\uparrow$",)))
    cells = [cell for table in tables(laid_out) for row in table.rows() for cell in row if cell]
    texts = [cell.text for cell in cells if hasattr(cell, "text")]
    assert any(text.startswith(r"Mine $\uparrow$") for text in texts)
    assert name not in texts
    assert f"{name} is better" not in texts
    assert r"Mine $\uparrow$" in FORMATS["latex"].render(laid_out)
    assert laid_out.as_json() == encode(report)
    with pytest.raises(RecipeError, match="'nobody'"):
        kind.lay_out(report, Layout(names=("nobody=x",)))


@pytest.mark.parametrize("path", REPORTS)
def test_csv_has_the_records_of_the_table_that_is_asked_for(path):
    kind, report = KINDS[path], REPORTS[path]()
    presented = kind.present(report)
    assert set(presented.sheets) <= set(kind.tables)
    shown = {table.name for table in tables(presented)}
    for name in shown & set(presented.sheets):
        sheet = presented.sheets[name]()
        records = FORMATS["csv"].render(kind.lay_out(report, Layout(name)))
        assert records.splitlines()[0] == ",".join(sheet.columns)
        assert len(records.splitlines()) == 1 + len(list(sheet.rows)) > 1
    first = FORMATS["csv"].render(kind.lay_out(report, Layout(next(iter(presented.sheets)))))
    assert FORMATS["csv"].render(kind.lay_out(report, Layout())) == first
    for name in shown - set(presented.sheets):
        with pytest.raises(RecipeError, match=f"no records of table {name}; take .*pairs"):
            FORMATS["csv"].render(kind.lay_out(report, Layout(name)))


def test_names_are_found_and_changed_wherever_they_stand():
    report = REPORTS["metric-evaluations"]()
    fields = KINDS["metric-evaluations"].naming
    assert set(names_in(report, fields)) == {"bleu", "ter"}
    changed = renamed_in(report, fields, {"bleu": "B"})
    assert set(names_in(changed, fields)) == {"B", "ter"}
    assert renamed_in(changed, fields, {"B": "bleu"}) == report
