"""Which words of two lines differ."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

Words = tuple[tuple[str, bool], ...]  # stretches of a line, and whether the other line lacks them

MOST = 2000  # words of the two lines together; longer ones are not compared
# Scripts without blanks between words are compared letter by letter.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+|[^\w\s]|\s+")


def marked_words(a: str, b: str) -> tuple[Words, Words]:
    """Both lines in stretches, each with whether the other line has it.

    Joined, the stretches are the line. Very long lines are one stretch without a mark.
    """
    words_a, words_b = _WORD.findall(a), _WORD.findall(b)
    if len(words_a) + len(words_b) > MOST:
        return ((a, False),), ((b, False),)
    matcher = SequenceMatcher(None, words_a, words_b, autojunk=False)
    marked_a: list[tuple[str, bool]] = []
    marked_b: list[tuple[str, bool]] = []
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        if a1 < a2:
            marked_a.append(("".join(words_a[a1:a2]), tag != "equal"))
        if b1 < b2:
            marked_b.append(("".join(words_b[b1:b2]), tag != "equal"))
    return tuple(marked_a), tuple(marked_b)
