"""The surface of outputs: damaged letters, tokens, capitals, lengths, ends that are missing."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from sigtest.data.health.finding import Finding, Lines, numbered, quoted
from sigtest.data.health.symbols import ACCENT, CONTROL, classes_of

MOJIBAKE = (
    "[\u00c2\u00c3][\u0080-\u00bf\u0152\u0153\u0160\u0161\u017d\u017e\u0192\u02c6\u02dc\u2013-\u2122]"
    "|\u00e2(?:\u20ac|\u0080)."
    "|(?:[\u00d0\u00d1][\u0080-\u00bf\u0152-\u0192\u02c6\u02dc\u2013-\u2122]){2}"
    "|(?:\u00e0[\u00a4-\u00b7].){2}|(?:\u00e3[\u0080-\u0083\u0192\u201a\u20ac].){2}"
    "|(?:[\u00e4-\u00e9][\u00b8-\u00bf\u0080-\u00b7\u2013-\u2122].){2}"
    "|(?:[\u00d7\u00d8\u00d9][\u0080-\u00bf\u0152-\u0192\u02c6\u02dc\u2013-\u2122]){2}"
)
LEADS = "\u00c2\u00c3\u00e2\u00d0\u00d1\u00e0\u00e3\u00e4\u00e5\u00e6\u00e7\u00d7\u00d8\u00d9"
SUSPECT = f"[{LEADS}\u00e8\u00e9][\u0080-\u00bf\u0152-\u02dc\u2013-\u2122]"
ENTITY = r"&(?:amp|quot|lt|gt|apos|nbsp|#\d{2,5}|#x[0-9a-fA-F]{2,4});"
ESCAPE = r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}"
LOST_LETTERS = r"\w\?\w|(?:^|\s)\?(?:\w|\?|\s[^\W_A-Z])"
SUBWORDS = {"@": ("@@ ", "@-@"), "\u2581": ("\u2581",), "<": ("<unk>", "</s>")}  # by first symbols
ENDS = ".?!\u3002\uff01\uff1f\u2026:;\u0964\u061f\u06d4\u1362\u17d4\u104b\u0f0d"
CLOSING = " \"'\u201c\u201d\u2019\u00bb\u00ab\u300d\u300f)]}"
FEW = 5  # lines before something that may be chance is said
PART = 0.01  # share of lines
CUT_PART = 0.02
SHORT, LONG = 0.5, 2.0  # times the usual length
SHORT_PART = 0.02
LOOPED, PIECE = 0.5, 8  # share of pieces of so many characters that differ, in a line that loops
GROWN = 1.3  # times the length of its reference that such a line has
LINE = 40  # characters of a reference from which lengths are compared
TOO_SHORT, TOO_LONG = 0.7, 1.5  # characters of an output for each of the reference
SPACED = 0.5  # share of marks with a blank before them, in tokenised text
JOINED = 0.1  # the same, in plain text
MARKS = ",.?!"
ENOUGH = 20  # marks or blanks from which a share says something


def find_damage(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """Letters that were decoded wrongly or lost, and marks of other programs."""
    found = []
    for what, least, damaged in DAMAGE:
        lines = damaged(output)
        if len(lines) >= least and len(lines) > 2 * len(damaged(reference)):
            segments = numbered(lines)
            where = quoted(segments, len(output))
            verb = "has" if len(segments) == 1 else "have"
            found.append(Finding("encoding", name, segments, f"{name}: {where} {verb} {what}."))
    return found


def _replaced(text: Lines) -> list[int]:
    if "\ufffd" not in text.joined:
        return []
    return [i for i, line in enumerate(text.lines) if "\ufffd" in line]


def _matching(pattern: str, mark: str) -> Callable[[Lines], list[int]]:
    """Finds lines that match; all such lines have the mark, which is looked for first."""

    def damaged(text: Lines) -> list[int]:
        if mark not in text.joined:
            return []
        found = re.compile(pattern).search  # seldom needed, and long to compile
        return [i for i, line in enumerate(text.lines) if mark in line and found(line)]

    return damaged


def _mojibake(text: Lines) -> list[int]:
    """Lines with letters that UTF-8's bytes become when they are read as Latin-1 or cp1252."""
    if not any(lead in text.joined for lead in LEADS):
        return []
    lines = [i for i, plain in enumerate(map(str.isascii, text.lines)) if not plain]
    suspect = re.compile(SUSPECT).search
    return [i for i in lines if suspect(text.lines[i]) and re.search(MOJIBAKE, text.lines[i])]


def _having(kind: int) -> Callable[[Lines], list[int]]:
    """Finds lines with symbols of a class that ASCII does not print."""

    def damaged(text: Lines) -> list[int]:
        if not text.beyond_ascii[kind]:
            return []
        places = np.flatnonzero(classes_of(text.joined) == kind)
        return [int(i) for i in np.unique(text.lines_of(places))]

    return damaged


def _pieces(text: Lines) -> list[int]:
    found: set[int] = set()
    for symbol, marks in SUBWORDS.items():
        if symbol in text.joined:
            lines = [i for i, line in enumerate(text.lines) if symbol in line]
            found.update(i for i in lines if any(mark in text.lines[i] for mark in marks))
    return sorted(found)


DAMAGE: tuple[tuple[str, int, Callable[[Lines], list[int]]], ...] = (
    ("replacement characters (U+FFFD)", 1, _replaced),
    ("UTF-8 read as another encoding", 2, _mojibake),
    ("control characters", 1, _having(CONTROL)),
    ("letters that became question marks", 3, _matching(LOST_LETTERS, "?")),
    ("HTML entities", FEW, _matching(ENTITY, "&")),
    ("escapes such as \\u00e9", 2, _matching(ESCAPE, "\\")),
    ("pieces of words or tokens such as @@ or <unk>", FEW, _pieces),
    ("accents apart from their letters (Unicode NFD)", FEW, _having(ACCENT)),
)


def find_tokens(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """Blanks before marks, or between words that have none, on one side only."""
    ours, theirs = _spaced_marks(output), _spaced_marks(reference)
    what = None
    if ours is not None and theirs is not None:
        if ours >= SPACED and theirs <= JOINED:
            what = "is tokenised (blanks before marks), the references are not"
        elif theirs >= SPACED and ours <= JOINED:
            what = "is not tokenised, the references are (blanks before marks)"
    if what is None:
        own, right = _blanks(output), _blanks(reference)
        if own > 0.2 and right < 0.05:
            what = "has blanks between words or characters, the references have none"
        elif right > 0.2 and own < 0.05:
            what = "has no blanks between words or characters, the references have"
    if what is None:
        return []
    return [Finding("tokenised", name, (), f"{name} {what}.")]


def _spaced_marks(text: Lines) -> float | None:
    """Share of marks with a blank before them."""
    marks = sum(text.counts[mark] for mark in MARKS)
    spaced = sum(text.sample.count(f" {mark}") for mark in MARKS)
    return spaced / marks if marks >= ENOUGH else None


def _blanks(text: Lines) -> float:
    return text.counts[" "] / len(text.sample) if len(text.sample) >= ENOUGH else 0.1


def find_case(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """Small or capital letters only, where the references have both."""
    ours, theirs = output.capitals, reference.capitals
    if ours is None or theirs is None:
        return []
    if theirs > 0.01 and ours < 0.1 * theirs:
        what = "has hardly any capital letters, the references have"
    elif theirs < 0.5 and ours > 0.9:
        what = "has capital letters only, the references have not"
    elif ours > 0.01 and theirs < 0.1 * ours:
        what = "has capital letters, the references have hardly any"
    else:
        return []
    return [Finding("case", name, (), f"{name} {what}.")]


def find_lengths(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """An output, or lines of it, far shorter or longer than the references; ends cut off."""
    total = len(output)
    judged = (reference.lengths > 0) & (output.lengths > 0)
    if not judged.any():
        return []
    ratio = output.lengths[judged].sum() / reference.lengths[judged].sum()
    found = []
    if not TOO_SHORT <= ratio <= TOO_LONG:
        found.append(
            Finding(
                "length",
                name,
                (),
                f"{name} has {ratio:.2f} characters for each of the references.",
            )
        )
    cut = _cut_lines(output, reference, ratio)
    segments = numbered(cut)
    if len(cut) >= max(FEW, CUT_PART * total):
        found.append(
            Finding(
                "truncated",
                name,
                segments,
                f"{name}: {quoted(segments, total)} end early, without the mark that ends a "
                "sentence.",
            )
        )
    far = _far_lines(name, output, reference, ratio, set(segments))
    said = any(finding.kind == "length" for finding in far)
    return [*found, *far, *([] if said else _looping_lines(name, output, reference))]


def _looping_lines(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """Lines that say the same over and over, where their references do not."""
    grown = (output.lengths >= LINE) & (output.lengths > GROWN * reference.lengths)
    segments = numbered(
        [
            int(i)
            for i in np.flatnonzero(grown & (reference.lengths > 0))
            if not _mostly_new(output.lines[i])
            and (own := _variety(output.lines[i])) < LOOPED
            and own < LOOPED * _variety(reference.lines[i])
        ]
    )
    if len(segments) < FEW:
        return []
    where = quoted(segments, len(output))
    return [Finding("length", name, segments, f"{name}: {where} repeat the same words on and on.")]


def _mostly_new(line: str) -> bool:
    """Whether every second piece of a line differs from the others: at least `LOOPED` of all."""
    starts = range(0, len(line) - PIECE + 1, 2)
    return len({line[i : i + PIECE] for i in starts}) == len(starts)


def _variety(line: str) -> float:
    """The share of pieces of a line that differ."""
    pieces = [line[i : i + PIECE] for i in range(len(line) - PIECE + 1)]
    return len(set(pieces)) / len(pieces) if pieces else 1.0


def _cut_lines(output: Lines, reference: Lines, ratio: float) -> list[int]:
    """Lines that are shorter than usual and do not end like their references."""
    usual = np.clip(ratio, TOO_SHORT, 1.2)
    short = (output.lengths < 0.8 * usual * reference.lengths) & (reference.lengths >= LINE)
    return [
        int(i)
        for i in np.flatnonzero(short & (output.lengths > 0))
        if reference.lines[i].rstrip(CLOSING)[-1:] in ENDS
        and output.lines[i].rstrip(CLOSING)[-1:] not in ENDS
    ]


def _far_lines(
    name: str, output: Lines, reference: Lines, ratio: float, said: set[int]
) -> list[Finding]:
    """Lines half or twice as long as they should be."""
    expected = np.clip(ratio, TOO_SHORT, TOO_LONG) * reference.lengths
    judged = (reference.lengths >= LINE) & (output.lengths > 0)
    found = []
    for kind, what, far in (
        ("truncated", "are less than half as long as the references suggest",
         output.lengths < SHORT * expected),
        ("length", "are more than twice as long as the references suggest",
         output.lengths > LONG * expected),
    ):  # fmt: skip
        segments = tuple(s for s in numbered(np.flatnonzero(judged & far)) if s not in said)
        if len(segments) >= max(FEW, SHORT_PART * len(output)):
            where = quoted(segments, len(output))
            found.append(Finding(kind, name, segments, f"{name}: {where} {what}."))
    return found
