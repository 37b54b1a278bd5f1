"""What health checks skip early is what they would have found nothing in."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigtest.data.health.finding import Lines
from sigtest.data.health.script import COMMON, Profile
from sigtest.data.health.surface import LOOPED, PIECE, _mostly_new
from sigtest.data.health.symbols import CLASSES, beyond_ascii, classes_of


@given(st.text(alphabet=st.characters(), max_size=80))
def test_symbols_beyond_ascii_are_counted_one_by_one(text: str) -> None:
    counted = Counter(
        int(own)
        for symbol, own in zip(text, classes_of(text), strict=True)
        if not " " <= symbol <= "~"
    )
    assert beyond_ascii(text).tolist() == [counted[own] for own in range(CLASSES)]


@given(st.text(alphabet="ab", min_size=PIECE, max_size=60))
def test_a_line_that_is_mostly_new_does_not_loop(line: str) -> None:
    pieces = [line[i : i + PIECE] for i in range(len(line) - PIECE + 1)]
    if _mostly_new(line):
        assert len(set(pieces)) >= LOOPED * len(pieces)


@pytest.mark.parametrize("seed", range(8))
def test_common_words_are_those_of_most_lines_the_first_and_smallest_before_others(
    seed: int,
) -> None:
    """Many words stand in equally many lines here, round the last of those that are taken."""
    rng = random.Random(seed)
    lines = [" ".join(f"w{rng.randrange(300)}" for _ in range(9)) for _ in range(70)]
    profile = Profile(Lines([*lines, "1 2 3", "4 5 6"]))
    counts = Counter(word for words in profile.words for word in sorted(words))
    found = [w for w, _ in counts.most_common(2 * COMMON) if any(map(str.isalpha, w))]
    assert profile.common == frozenset(found[:COMMON])
