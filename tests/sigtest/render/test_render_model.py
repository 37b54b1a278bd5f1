"""Tables before they have a look."""

import pytest

from sigtest.render import html, latex, text
from sigtest.render.model import (
    Abreast,
    Column,
    Document,
    Group,
    Interval,
    Name,
    Number,
    Paragraph,
    PValue,
    Range,
    ReportTable,
    Section,
    Words,
)


def table(order: str, *groups: str, **more: object) -> ReportTable:
    """Rows named by letters; each group has the place of the letter in the alphabet."""
    names = (Column("name", tuple(map(Name, order))),)
    numbers = tuple(Number(ord(letter) - ord("a")) for letter in order)
    made = tuple(Group(group, (Column("place", numbers),)) for group in groups)
    return ReportTable("Letters", names, made, **more)  # type: ignore[arg-type]


def shown(made: ReportTable) -> list[list[str]]:
    return [[cell.plain if cell else "" for cell in row] for row in made.rows()]


def test_joined_tables_have_the_order_and_rules_of_the_first():
    first, second = (
        table("cab", "one", breaks=frozenset({1})),
        table("abc", "two", breaks=frozenset({2})),
    )
    joined = Abreast((first, second)).joined()
    assert shown(joined) == [["c", "2", "2"], ["a", "0", "0"], ["b", "1", "1"]]
    assert joined.breaks == {1}


def test_chosen_rows_keep_the_rules_between_their_clusters():
    made = table("abcdef", "one", breaks=frozenset({2, 3, 5}))
    assert made.of_rows([0, 1, 4]).breaks == {2}
    assert made.of_rows([0, 2, 3, 5]).breaks == {1, 2, 3}
    assert made.of_rows([3, 4]).breaks == frozenset()


@pytest.mark.parametrize(("room", "sizes"), [(9, [5]), (4, [3, 2]), (2, [2, 2, 1]), (0, [1] * 5)])
def test_tables_are_parted_as_evenly_as_they_can_be(room, sizes):
    parts = table("ab", *"vwxyz").part(room, lambda group: 1)
    assert [len(part.groups) for part in parts] == sizes
    whole = table("ab", *"vwxyz", parted=False).part(room, lambda group: 1)
    assert [len(part.groups) for part in whole] == [5]


def document() -> Document:
    """An answer that is no comparison, with every kind of block and cell."""
    cells = (
        Column("rank", (Range(1, 2), Range(2, 2))),
        Column("score", (Number(-1.5, 1), None)),
        Column("interval", (Interval(-2.25, -0.75, 1), None)),
        Column("p", (PValue(0.03, 0.05, marks=frozenset(["significant"])), PValue(0.2, 0.05))),
        Column("words", (Words("one & two"), None)),
    )
    made = ReportTable(
        "Raters", (Column("rater", (Name("r_1"), Name("r_2"))),), (Group("", cells),)
    )
    return Document(
        "Human evaluation",
        ("2 raters", "alpha 0.05"),
        (Paragraph("Raters agree."), Section("Agreement", (made,))),
        marks={"significant": "p is at most 0.05"},
        warnings=("few raters",),
        signature="human:1",
    )


def test_looks_show_answers_that_are_no_comparisons():
    lines = text.render(document()).splitlines()
    assert lines[0] == "2 raters; alpha 0.05"
    assert "Raters agree." in lines
    assert "r_1     1-2  -1.5 [-2.2, -0.8]   0.030*  one & two" in lines
    assert "r_2       2                       0.20" in lines
    assert lines[-1] == "Signature: human:1"
    assert r"| r\_1 | 1-2 | -1.5 | \[-2.2, -0.8\] | **0.030** | one \& two |" in text.markdown(
        document()
    )
    assert r"r\_1 & 1--2 & $-1.5$ & $[-2.2, -0.8]$ & $0.030$$^{*}$ & one \& two \\" in latex.render(
        document()
    )
    page = html.render(document())
    assert "<title>Human evaluation</title>" in page
    assert '<td class="number">−1.5</td><td>[−2.2, −0.8]</td>' in page
    assert "<h2>Agreement</h2>" in page
    assert "<td>one &amp; two</td>" in page


def test_counts_have_their_thousands_marked_as_in_sentences():
    counts = Column("segments", (Number(12_345), Number(1_000_000)))
    ranges = Column("interval", (Interval(9_999, 23_456, 0), None))
    names = Column("a", (Name("x"), Name("y")))
    made = Document(
        "Counts", (), (ReportTable("Counts", (names,), (Group("", (counts, ranges)),)),)
    )
    for look in (text.render, html.render, text.markdown):
        assert "12,345" in look(made)
        assert "1,000,000" in look(made)
        assert "9,999, 23,456" in look(made).replace("  ", " ")
    assert "$12{,}345$ & $[9{,}999, 23{,}456]$" in latex.render(made)  # no gap after the comma
