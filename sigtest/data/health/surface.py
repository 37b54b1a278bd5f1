"""The surface of outputs: damaged letters, tokens, capitals, lengths, ends that are missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sigtest.data.health.finding import Finding, numbered, stretch, whole
from sigtest.data.health.lines import LOOKED_AT, Lines
from sigtest.data.health.symbols import BASIC, points_of, standing

LEADS = "\xc2\xc3\xd0\xd1\xd7\xd8\xd9\xe0\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9"
LATIN = "[\u0080-\u00bf\u0152\u0153\u0160\u0161\u017d\u017e\u0192\u02c6\u02dc\u2013-\u2122]"
ALPHABET = "[\u0080-\u00bf\u0152-\u0192\u02c6\u02dc\u2013-\u2122]"
INDIC, KANA, HAN = (
    "[\u00a4-\u00b7].",
    "[\u0080-\u0083\u0192\u201a\u20ac].",
    "[\u0080-\u00bf\u2013-\u2122].",
)
MOJIBAKE = (  # what UTF-8's bytes become when they are read as Latin-1 or cp1252
    f"[{LEADS}](?:(?<=[\u00c2\u00c3]){LATIN}|(?<=\u00e2)[\u20ac\u0080]."
    f"|(?<=[\u00d0\u00d1]){ALPHABET}[\u00d0\u00d1]{ALPHABET}"
    f"|(?<=[\u00d7-\u00d9]){ALPHABET}[\u00d7-\u00d9]{ALPHABET}"
    f"|(?<=\u00e0){INDIC}\u00e0{INDIC}|(?<=\u00e3){KANA}\u00e3{KANA}"
    f"|(?<=[\u00e4-\u00e9]){HAN}[\u00e4-\u00e9]{HAN})"
)
ENTITY = r"&(?:amp|quot|lt|gt|apos|nbsp|#\d{2,5}|#x[0-9a-fA-F]{2,4});"
ESCAPE = r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}"
LOST_LETTERS = r"\?(?:(?<=\w\?)\w|(?<!\S\?)(?:\w|\?|\s[^\W_A-Z]))"  # begins with what is rare
SUBWORDS = "@@ |@-@|\u2581|<unk>|</s>"
CONTROLS = "".join(map(chr, [*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0)]))
ACCENTS = "".join(map(chr, range(0x300, 0x370)))
ENDS = (
    ".?!\u3002\uff01\uff1f\u2026:;\u0964\u0965\u061f\u06d4\u0589\u1362\u1367\u166e\u1803"
    "\u17d4\u17d5\u104b\u0f0d\uff0e\uff61"
)
ASKING = "?\uff1f\u061f\u037e;"  # marks of questions, in Greek those that look like semicolons
CLOSING = " \"'\u201c\u201d\u2019\u00bb\u00ab\u300d\u300f)]}"
FEW = 5  # lines before something that may be chance is said
CUT_PART = 0.02
ENDED = 0.1  # share of lines with the mark that ends a sentence, above which an output writes it
SHORT, LONG = 0.5, 2.0  # times the usual length
SHORT_PART = 0.02
LOOPED, PIECE = 0.5, 8  # share of pieces of so many characters that differ, in a line that loops
HASHED = 0x9E3779B9  # an odd number without order in its bits
HASH_BITS = 9  # of a hash that are looked at
GROWN = 1.3  # times the length of its reference that such a line has
LINE = 40  # characters of a reference from which lengths are compared
TOO_SHORT, TOO_LONG = 0.7, 1.5  # characters of an output for each of the reference
SPACED = 0.5  # share of marks with a blank before them, in tokenised text
JOINED = 0.1  # the same, in plain text
FRAMED = 50  # lines that are looked at for marks before or round them
QUOTES = "[\"'\u2018-\u201f\u00ab\u00bb\u2039\u203a\u300c-\u300f]"  # of all languages
FRAMES = (  # what a list, a table or another file than plain text has on every line
    ("stand between quotation marks", re.compile(rf"{QUOTES}.*{QUOTES}[.,;\u3002]?\s*$")),
    (
        "begin with a number or a time",
        re.compile(
            r"\d+(?:[:/.-]\d+)+\s|\d+(?:[.):|\]]\s|[\u3001\uff0e\uff09\uff1a])|[\[{(#\uff08\u3010]\d|-?\d+\.\d{2,}\s"
        ),
    ),
    (
        "begin with the mark of a list or a diff",
        re.compile(r"(?:[-*+>\u2022\u00b7]|#+)\s|[-+](?=\S)|[\u2013-\u2015\u30fb]"),
    ),
    (
        "begin with a name before = or :",
        re.compile(r'"?[^\W\d][^=:\uff1a,;!?"]{0,30}"?\s?[=:\uff1a]'),
    ),
    (  # of NLLB, mBART, OPUS-MT, MADLAD, M2M
        "begin with the tag of a language",
        re.compile(r"[a-z]{2,3}_[A-Z][A-Za-z]{1,3}\s|>>\w+<<|<2\w+>|__\w+__"),
    ),
    # of Kaldi and ESPnet
    ("begin with an id", re.compile(r"[A-Za-z][^\W_]*+[_-](?=\S*\d)[\w.-]+\s")),
)


DAMAGE = (  # what it is, lines from which it is said, a symbol of such lines, and what they match
    ("replacement characters (U+FFFD)", 1, "\ufffd", ""),
    ("UTF-8 read as another encoding", 2, LEADS, MOJIBAKE),
    ("control characters", 1, CONTROLS, ""),
    ("letters that became question marks", 3, "?", LOST_LETTERS),
    ("HTML entities", FEW, "&", ENTITY),
    ("escapes such as \\u00e9", 2, "\\", ESCAPE),
    ("pieces of words or tokens such as @@ or <unk>", FEW, "@\u2581<", SUBWORDS),
    ("accents apart from their letters (Unicode NFD)", FEW, ACCENTS, ""),
)


def find_damage(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """Letters that were decoded wrongly or lost, and marks of other programs."""
    found: list[Finding] = []
    for kind, lines in enumerate(_damaged(output)):
        what, least, marks, _ = DAMAGE[kind]
        if marks == "?":  # which French has a blank before: then the reference asks, too
            lines = [i for i in lines if _asks(output.lines[i]) > _asks(reference.lines[i])]
        if len(lines) >= least and len(lines) > 2 * len(_damaged(reference)[kind]):
            verb = "has" if len(lines) == 1 else "have"
            words = f"{verb} {what}"
            found += stretch("encoding", name, numbered(lines), len(output.lines), words)
    return found


def _asks(line: str) -> int:
    return sum(map(line.count, ASKING))


def _damaged(text: Lines) -> list[list[int]]:
    """Lines with each kind of damage; its marks are looked for first, in all lines at once."""
    places, marks = standing(text.lines, _marks())
    damaged: list[list[int]] = [[] for _ in DAMAGE]
    for kind, (*_, pattern) in enumerate(DAMAGE):
        if np.bitwise_or.reduce(marks) & 1 << kind:
            lines = dict.fromkeys(places[marks & 1 << kind > 0].tolist())
            damaged[kind] = [i for i in lines if re.search(pattern, text.lines[i])]
    return damaged


@cache
def _marks() -> NDArray[np.uint8]:
    """A bit for each kind of damage whose mark a code point of the basic plane is."""
    table = np.zeros(BASIC, dtype=np.uint8)
    for kind, (_, _, marks, _) in enumerate(DAMAGE):
        table[points_of(marks)] |= 1 << kind
    return table


def find_frames(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """Marks before or round every line, where the references have none."""
    first = [i for i, line in enumerate(output.lines[:FRAMED]) if line.strip()]
    if len(first) < FEW:
        return []
    for words, frame in FRAMES:
        if all(frame.match(output.lines[i].lstrip()) for i in first):
            shared = sum(frame.match(reference.lines[i].lstrip()) is not None for i in first)
            if 2 * shared <= len(first):
                return whole("framed", name, f": lines {words}, those of the references do not")
    return []


def find_tokens(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """Blanks before marks, or between words that have none, on one side only."""
    ours, theirs = output.sample, reference.sample
    if ours.spaced_marks >= SPACED and theirs.spaced_marks <= JOINED:
        what = "is tokenised (blanks before marks), the references are not"
    elif theirs.spaced_marks >= SPACED and ours.spaced_marks <= JOINED:
        what = "is not tokenised, the references are (blanks before marks)"
    elif ours.blanks > 0.2 and theirs.blanks < 0.05:
        what = "has blanks between words or characters, and the references have none"
    elif theirs.blanks > 0.2 and ours.blanks < 0.05:
        what = "has no blanks between words or characters, which the references have"
    else:
        return []
    return whole("tokenised", name, f" {what}")


def find_case(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """Small or capital letters only, where the references have both."""
    ours, theirs = output.sample.capitals, reference.sample.capitals
    if ours is None or theirs is None:
        return []
    if theirs > 0.01 and ours < 0.1 * theirs:
        what = "has hardly any capital letters, which the references have"
    elif theirs < 0.5 and ours > 0.9:
        what = "has capital letters only, and the references have small ones, too"
    elif ours > 0.01 and theirs < 0.1 * ours:
        what = "has capital letters, of which the references have hardly any"
    else:
        return []
    return whole("case", name, f" {what}")


def find_lengths(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """An output, or lines of it, far shorter or longer than the references; ends cut off."""
    total = len(output.lines)
    judged = (reference.lengths > 0) & (output.lengths > 0)
    if not judged.any():
        return []
    ratio = output.lengths[judged].sum() / reference.lengths[judged].sum()
    found: list[Finding] = []
    if not TOO_SHORT <= ratio <= TOO_LONG:
        found += whole(
            "length", name, f" has {ratio:.2f} characters for each character of the references"
        )
    segments = numbered(_cut_lines(output, reference, ratio))
    if len(segments) >= max(FEW, CUT_PART * total):
        words = "end early, without the mark that ends a sentence"
        found += stretch("truncated", name, segments, total, words)
    far = _far_lines(name, output, reference, ratio, set(segments))
    said = any(finding.kind == "length" for finding in far)
    return [*found, *far, *([] if said else _looping_lines(name, output, reference))]


def _looping_lines(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """Lines that say the same over and over, where their references do not."""
    grown = (output.lengths >= LINE) & (output.lengths > GROWN * reference.lengths)
    places = np.flatnonzero(grown & (reference.lengths > 0))
    if len(places) < FEW:
        return []
    looping = places[may_loop([output.lines[i] for i in places])].tolist()
    own, right = ([variety(text.lines[i]) for i in looping] for text in (output, reference))
    segments = numbered(i for i, a, b in zip(looping, own, right, strict=True) if a < LOOPED * b)
    if len(segments) < FEW:
        return []
    words = "repeat the same words on and on"
    return stretch("length", name, segments, len(output.lines), words)


def may_loop(lines: Sequence[str]) -> NDArray[np.bool_]:
    """(n,) whether so few pieces of each line may differ; two whose hashes are equal count once."""
    hashes = points_of("".join(lines) + "   ")
    for step in (1, 2):  # of two symbols, of four: where these differ, longer pieces do
        hashes = hashes[:-step] * np.uint32(pow(HASHED, step, 1 << 32)) + hashes[step:]
    lengths = np.fromiter(map(len, lines), np.int64, len(lines))
    seen = np.zeros(len(lines) << HASH_BITS, dtype=bool)
    line = np.repeat(np.arange(len(lines)) << HASH_BITS, lengths)
    seen[line + (hashes * np.uint32(HASHED) >> np.uint32(32 - HASH_BITS))] = True
    differ = np.bincount(np.flatnonzero(seen) >> HASH_BITS, minlength=len(lines))
    ends = PIECE - 1  # of a line, where no piece begins
    return differ - ends < LOOPED * (lengths - ends)


def variety(line: str) -> float:
    """The share of pieces of a line that differ; 1 where there is no piece."""
    pieces = [line[i : i + PIECE] for i in range(len(line) - PIECE + 1)]
    return len(set(pieces)) / len(pieces) if pieces else 1.0


def _cut_lines(output: Lines, reference: Lines, ratio: float) -> list[int]:
    """Lines that are shorter than usual and do not end like their references.

    None where hardly any line of the output ends so: then it is no sign of a cut.
    """
    usual = min(max(ratio, TOO_SHORT), 1.2)
    short = (output.lengths < 0.8 * usual * reference.lengths) & (reference.lengths >= LINE)
    places = np.flatnonzero(short & (output.lengths > 0)).tolist()
    cut = [i for i in places if _ends(reference.lines[i]) and not _ends(output.lines[i])]
    if len(cut) < FEW:
        return cut
    others = np.flatnonzero(~short & (output.lengths > 0))[:LOOKED_AT].tolist()
    ended = [_ends(output.lines[i]) for i in others if _ends(reference.lines[i])]
    return cut if sum(ended) > ENDED * len(ended) or not ended else []


def _ends(line: str) -> bool:
    """Whether a line ends with the mark of a sentence."""
    return line.rstrip(CLOSING)[-1:] in ENDS


def _far_lines(
    name: str, output: Lines, reference: Lines, ratio: float, said: set[int]
) -> list[Finding]:
    """Lines half or twice as long as they should be."""
    expected = min(max(ratio, TOO_SHORT), TOO_LONG) * reference.lengths
    judged = (reference.lengths >= LINE) & (output.lengths > 0)
    found: list[Finding] = []
    for kind, what, far in (
        ("truncated", "are less than half as long as the references suggest",
         output.lengths < SHORT * expected),
        ("length", "are more than twice as long as the references suggest",
         output.lengths > LONG * expected),
    ):  # fmt: skip
        places = np.flatnonzero(judged & far).tolist()
        segments = tuple(segment for segment in numbered(places) if segment not in said)
        if len(segments) >= max(FEW, SHORT_PART * len(output.lines)):
            found += stretch(kind, name, segments, len(output.lines), what)
    return found
