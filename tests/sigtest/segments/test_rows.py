"""Segments by document, length and sign, some at a time; and words that differ."""

import numpy as np
import pytest

from sigtest.errors import RecipeError
from sigtest.segments import Filter, Segments, marked_words, rows_of

SEGMENTS = Segments(
    shares=np.array([0.5, -2.0, 1.0, 0.0]),
    reference=("a b c", "a", "a b", "a b c d e"),
    a=("a", "b", "c", "d"),
    b=("e", "f", "g", "h"),
    documents=("one", "one", "two", "two"),
)


def numbers(higher: bool = True, **chosen: object) -> list[int]:
    found = rows_of(SEGMENTS, Filter(**chosen), higher, 0, 20)  # type: ignore[arg-type]
    return [row.number for row in found.rows]


def test_the_largest_share_comes_first() -> None:
    assert numbers() == [2, 3, 1, 4]


def test_orders() -> None:
    assert numbers(order="a") == [3, 1, 4, 2]
    assert numbers(order="b") == [2, 4, 1, 3]
    assert numbers(order="place") == [1, 2, 3, 4]
    assert numbers(higher=False, order="a") == [2, 4, 1, 3]


def test_filters() -> None:
    assert numbers(document="two") == [3, 4]
    assert numbers(better="a") == [3, 1]
    assert numbers(better="b") == [2]
    assert numbers(higher=False, better="a") == [2]
    assert numbers(shortest=2, longest=3) == [3, 1]


def test_some_at_a_time_with_what_they_add_up_to() -> None:
    found = rows_of(SEGMENTS, Filter(), True, 1, 2)
    assert [row.number for row in found.rows] == [3, 1]
    assert (found.wanted, found.carried, found.in_all) == (4, -0.5, -0.5)
    assert found.rows[0].document == "two"
    assert (found.rows[0].a, found.rows[0].b) == ("c", "g")


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"document": "three"}, "Unknown document 'three'"),
        ({"order": "c"}, "Unknown order 'c'"),
        ({"better": "aspen"}, "Unknown side of the pair 'aspen'; choose one of a, b."),
    ],
)
def test_what_is_not_there_is_an_error(chosen: dict[str, str], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        numbers(**chosen)


def test_words_that_differ_are_marked() -> None:
    a, b = marked_words("the red house stands", "the house stands still")
    assert "".join(part for part, marked in a if marked).strip() == "red"
    assert "".join(part for part, marked in b if marked).strip() == "still"


def test_letters_of_scripts_without_blanks_are_compared() -> None:
    a, b = marked_words("我爱你们", "我爱他们")
    assert [part for part, marked in a if marked] == ["你"]
    assert [part for part, marked in b if marked] == ["他"]


@pytest.mark.parametrize("line", ["", "  two  blanks ", "a\tb", "x " * 3000])
def test_joined_stretches_are_the_line(line: str) -> None:
    a, b = marked_words(line, "a b c")
    assert "".join(part for part, _ in a) == line
    assert "".join(part for part, _ in b) == "a b c"
