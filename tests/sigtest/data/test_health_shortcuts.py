"""What health checks skip early is what they would have found nothing in."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigtest.data.health.lines import COMMON, Lines
from sigtest.data.health.surface import PIECE, varieties
from sigtest.data.health.symbols import NAMES, OTHER, letters_of, scripts_of

LINES = st.lists(st.text(alphabet=st.characters(exclude_characters="\n"), max_size=30), max_size=5)


@given(LINES)
def test_symbols_beyond_ascii_are_counted_one_by_one(lines: list[str]) -> None:
    counted = Counter(symbol for line in lines for symbol in line if not " " <= symbol <= "~")
    assert Lines(lines).strange == counted
    scripts = Counter(int(own) for own in scripts_of("".join(counted.elements())))
    scripts[OTHER] = 0
    assert letters_of(counted).tolist() == [scripts[own] for own in range(len(NAMES))]


@given(LINES, st.text(max_size=3))
def test_lines_that_have_a_symbol_are_found(lines: list[str], symbols: str) -> None:
    symbols += "?\x07"
    found = [i for i, line in enumerate(lines) if any(symbol in line for symbol in symbols)]
    assert Lines(lines).having(symbols) == found


@given(st.lists(st.text(alphabet="ab\u4e2d\U0001f600", max_size=60), max_size=6))
def test_pieces_of_lines_that_differ_are_counted_as_sets_count_them(lines: list[str]) -> None:
    pieces = [[line[i : i + PIECE] for i in range(len(line) - PIECE + 1)] for line in lines]
    expected = [len(set(own)) / len(own) if own else 1.0 for own in pieces]
    assert varieties(lines).tolist() == expected


@pytest.mark.parametrize("seed", range(8))
def test_common_words_are_those_that_stand_most_often_the_first_before_others(
    seed: int,
) -> None:
    """Many words stand there equally often, round the last of those that are taken."""
    rng = random.Random(seed)
    lines = [" ".join(f"w{rng.randrange(300)}" for _ in range(9)) for _ in range(70)]
    text = Lines([*lines, "1 2 3", "4 5 6"])
    counts = Counter(word for words in text.words for word in words)
    found = [w for w, _ in counts.most_common(2 * COMMON) if any(map(str.isalpha, w))]
    assert text.common == frozenset(found[:COMMON])
