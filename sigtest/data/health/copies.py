"""Lines that are no translations: empty, or those of the source, the reference, another system."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sigtest.data.health.finding import Finding, numbered, quoted, share, stretch
from sigtest.data.health.lines import Lines

FEW = 3  # segments below which nothing is said
SUBSTANTIAL = 20  # characters of a line that two texts do not share by chance
UNTRANSLATED = 0.005  # share of lines equal to the source
LEAKED = 0.5  # share of lines equal to the reference
SAME = 0.9  # share of lines equal to those of another system
RUN = 10  # equal lines one after the other
CHANCE = 1e-9  # of such a run, if lines were equal independently
REPEATED = 0.003  # share of lines that stand for unlike references, too
OFTEN = 4  # unlike references for which one line stands
UNLIKE = 0.3  # share of words that two references have in common, at most


def find_empty(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """Lines without text where the reference has some."""
    if all(output.lines) and not any(map(str.isspace, output.lines)):
        return []
    both = enumerate(zip(output.lines, reference.lines, strict=True))
    blank = [i for i, (own, its) in both if not own.strip() and its.strip()]
    if not blank:
        return []
    verb = "has" if len(blank) == 1 else "have"
    return stretch("empty", name, numbered(blank), len(output.lines), f"{verb} no output")


def find_untranslated(name: str, output: Lines, source: Lines, reference: Lines) -> list[Finding]:
    """Lines that are those of the source, where the reference is not."""
    same = equal_lines(output, source)
    same &= ~equal_lines(source, reference)
    return _copied("equals_source", name, same, UNTRANSLATED, "the source")


def find_leaked(name: str, output: Lines, reference: Lines) -> list[Finding]:
    """Lines that are those of the reference, more of them than translators agree on."""
    return _copied(
        "equals_reference", name, equal_lines(output, reference), LEAKED, "the reference"
    )


def find_same(outputs: Mapping[str, Lines]) -> list[Finding]:
    """Systems with the lines of another, all or a stretch that no chance explains."""
    found: list[Finding] = []
    names = list(outputs)
    for b, name in enumerate(names):
        for other in names[:b]:
            same = equal_lines(outputs[name], outputs[other])
            found += _copied("equals_system", name, same, SAME, other)
    return found


def find_repeated(
    name: str, output: Lines, reference: Lines, source: Lines | None
) -> list[Finding]:
    """Lines that stand for several segments whose references have little in common.

    Where sources are the same, so may outputs be, in whatever words references say it.
    """
    long = output.lengths >= SUBSTANTIAL
    ordered = np.sort(output.hashes[long])
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    if not again.size:
        return []
    together: defaultdict[str, list[int]] = defaultdict(list)
    for i in np.flatnonzero(long & np.isin(output.hashes, again)).tolist():
        together[output.lines[i]].append(i)
    unlike = [_unlike(_distinct(places, source), reference) for places in together.values()]
    repeated = [i for where in unlike for i in where]
    often = max(map(len, unlike), default=0) >= OFTEN
    if not often and len(repeated) < max(FEW, REPEATED * len(output.lines)):
        return []
    words = "repeat lines of other segments, though the references differ"
    return stretch("copied_lines", name, numbered(sorted(repeated)), len(output.lines), words)


def equal_lines(text: Lines, other: Lines) -> NDArray[np.bool_]:
    """(n,) whether lines are equal, and long enough to mean something; all of them where all are.

    By their hashes, 64 bits with a key of this process: many systems that are nearly the same cost
    no more than others.
    """
    same, long = text.hashes == other.hashes, text.lengths >= SUBSTANTIAL
    return same if same.all() and long.any() else same & long


def _distinct(where: Sequence[int], source: Lines | None) -> Sequence[int]:
    """Of segments with the same source the first."""
    if source is None:
        return where
    return sorted({source.lines[i]: i for i in reversed(where)}.values())


def _unlike(where: Sequence[int], reference: Lines) -> list[int]:
    """Segments whose references have little in common with the first one's."""
    first = set(reference.lines[where[0]])
    words = set(reference.lines[where[0]].split())
    unlike = []
    for i in where[1:]:
        line = reference.lines[i]
        others = set(line.split())
        if len(words) > 2 or len(others) > 2:
            alike = len(words & others) / max(1, min(len(words), len(others)))
        else:
            alike = len(first & set(line)) / max(1, len(first | set(line)))
        if alike < UNLIKE:
            unlike.append(i)
    return unlike


def _copied(
    kind: str, name: str, same: NDArray[np.bool_], usual: float, whose: str
) -> list[Finding]:
    """Equal lines, where they are more than usual, or many one after the other."""
    total, count = len(same), int(same.sum())
    if count >= max(FEW, usual * total):
        segments = numbered(np.flatnonzero(same).tolist())
        what = f"{share(count, total)} lines are those of {whose}"
        where = "" if count == total else f" ({quoted(segments, total)})"
        return [Finding(kind, name, segments, f"{name}: {what}{where}.")]
    if count < RUN:
        return []
    start, end = _longest_run(same)
    outside = (count - (end - start) + 1) / (total - (end - start) + 2)
    chance = total * math.pow(min(outside, 0.999), end - start)
    if end - start < RUN or chance >= CHANCE:
        return []
    return stretch(kind, name, numbered(range(start, end)), total, f"are those of {whose}")


def _longest_run(same: NDArray[np.bool_]) -> tuple[int, int]:
    """Where the longest run of equal lines begins and ends, where some are equal."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], same.astype(np.int8), [0]])))
    starts, ends = edges[::2], edges[1::2]
    longest = int(np.argmax(ends - starts))
    return int(starts[longest]), int(ends[longest])
