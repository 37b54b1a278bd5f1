"""What health checks skip early is what they would have found nothing in."""

import random
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigtest.data.health import LOOPED, LOST_LETTERS, PIECE, variety
from sigtest.data.health.texts import (
    BASIC,
    COMMON,
    MARKS,
    NAMES,
    OTHER,
    Lines,
    letters_of,
    points_of,
    standing,
    table_of_scripts,
)

LINES = st.lists(st.text(alphabet=st.characters(exclude_characters="\n"), max_size=30), max_size=5)
SYMBOLS = st.text(min_size=1, max_size=9)


@given(st.text())
def test_letters_of_each_script_are_counted_one_by_one(text):
    table = table_of_scripts()
    scripts = Counter(int(table[ord(symbol)]) for symbol in text if ord(symbol) < len(table))
    scripts[OTHER] = 0
    assert letters_of(Counter(text)).tolist() == [scripts[own] for own in range(len(NAMES))]


@given(LINES, SYMBOLS, st.sampled_from([1, 2, 256]))
def test_symbols_of_a_table_are_found_in_their_lines(lines, symbols, chunk):
    """However many lines are looked at together; beyond the basic plane there are none."""
    symbols = "".join(symbol for symbol in symbols if ord(symbol) < BASIC - 1) + "?\x07"
    lines = [*lines, "", f"a{symbols}", "\U0001f600\uffff?"]
    table = np.zeros(BASIC, dtype=np.uint8)
    table[points_of(symbols)] = 3
    table[ord("?")] = 5
    expected = [
        (i, 5 if symbol == "?" else 3)
        for i, line in enumerate(lines)
        for symbol in line
        if symbol in symbols
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sigtest.data.health.texts.CHUNK", chunk)
        at, given_there = standing(lines, table)
    assert [*zip(at.tolist(), given_there.tolist(), strict=True)] == expected


@given(st.lists(st.text(alphabet="ab\u4e2d\U0001f600", max_size=60), max_size=6))
def test_the_variety_of_a_line_is_the_share_of_its_pieces_that_differ(lines):
    pieces = [[line[i : i + PIECE] for i in range(len(line) - PIECE + 1)] for line in lines]
    expected = [len(set(own)) / len(own) if own else 1.0 for own in pieces]
    assert [variety(line) for line in lines] == expected


def test_a_line_that_only_just_loops_has_less_than_half_of_its_pieces_once():
    line = "".join(chr(0x4E00 + j) for j in range(40)) + "a" * 50
    assert variety(line) == 41 / 83 < LOOPED


@given(st.text(alphabet="a\u00e9?Z _1\t\u3000\u4e2d", max_size=9))
def test_lost_letters_are_what_stands_beside_a_question_mark(line):
    """Between two letters; or where a word begins, before a letter, a mark or a small word."""
    spelled = r"\w\?\w|(?:^|\s)\?(?:\w|\?|\s[^\W_A-Z])"
    assert bool(re.search(LOST_LETTERS, line)) == bool(re.search(spelled, line))


@given(st.lists(st.text(alphabet="ab .,", max_size=12), max_size=9))
def test_marks_after_blanks_are_counted_in_all_lines(lines):
    text = "".join(f"{line}\n" for line in lines) * 20
    marks = sum(map(text.count, MARKS))
    share = sum(text.count(f" {mark}") for mark in MARKS) / marks if marks >= 20 else 0.3
    assert Lines(lines * 20).sample.spaced_marks == share


@pytest.mark.parametrize("seed", range(8))
def test_common_words_are_those_that_stand_most_often_the_first_before_others(seed):
    """Many words stand there equally often, round the last of those that are taken."""
    rng = random.Random(seed)
    lines = [" ".join(f"w{rng.randrange(300)}" for _ in range(9)) for _ in range(70)]
    text = Lines([*lines, "1 2 3", "4 5 6"])
    every_second = text.words(text.sample.spaced)[::2]
    counts = Counter(word for words in every_second for word in words)
    found = [w for w, _ in counts.most_common(2 * COMMON) if any(map(str.isalpha, w))]
    assert text.common == {word: counts[word] for word in found[:COMMON]}
