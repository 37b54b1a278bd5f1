"""Health checks of submissions: what an organiser would want to know before any score.

Each check is a function of the texts alone, deterministic, and fast enough to run every time: marks
and lengths are looked at in all lines at once, words only where these leave a doubt.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from itertools import chain, compress

import numpy as np
from numpy.typing import NDArray

from sigtest.data.health import texts

__all__ = ["KINDS", "OF_REFERENCES", "Finding", "check"]

KINDS = {
    "shifted": "lines stand one or more segments too early or too late, or in another order",
    "empty": "no output where the reference has text",
    "truncated": "lines end early or are far too short",
    "equals_source": "lines are those of the source",
    "equals_reference": "lines are those of the reference",
    "equals_system": "lines are those of another system",
    "wrong_script": "written in other letters than the references",
    "wrong_language": "without the common words of the references",
    "copied_lines": "lines stand for several segments with unlike references",
    "encoding": "damaged letters, entities, escapes, pieces of words",
    "framed": "quotation marks, numbers or names before or round every line",
    "length": "far shorter or longer than the references, or the same words on and on",
    "tokenised": "blanks between tokens on one side only",
    "case": "capitals on one side only",
    "heading": "the first gold label may be the heading of its column",
    "short": "segments too short for BLEU's n-grams",
    "tokenizer": "a script without blanks under a tokenizer that needs them",
}
OF_REFERENCES = {"heading", "short", "tokenizer"}  # what is said of no system
MANY = 0.5  # share of lines in the source's words from which other checks would only repeat it
LISTED = 5  # stretches of segments that a sentence lists
FEW = 3  # lines below which nothing is said of copies and scripts
SOME = 5  # the same of what is on the surface


@dataclass(frozen=True)
class Finding:
    """One thing about one submission that its users should look at.

    Attributes:
        kind: Which check found it, one of `KINDS`.
        system: Whose output it is; empty where it is about the references.
        segments: The segments concerned, counted from 1; empty where all are.
        sentence: What a report says, with the system's name and the segments.
    """

    kind: str
    system: str
    segments: tuple[int, ...]
    sentence: str


@dataclass(frozen=True)
class Output:
    """What a check looks at.

    Attributes:
        name: Of the system.
        text: Its output.
        reference: Of each segment the first reference that there is.
        source: Where it is known.
        findings: What checks found, here and in others.
    """

    name: str
    text: texts.Lines
    reference: texts.Lines
    source: texts.Lines | None = None
    findings: list[Finding] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Number of segments."""
        return len(self.text.lines)

    def add(self, kind: str, words: str, places: Iterable[int] = ()) -> bool:
        """A finding in words that follow the name, about some lines or all of it."""
        segments = tuple([place + 1 for place in places])
        self.findings.append(Finding(kind, self.name, segments, f"{self.name}{words}."))
        return True

    def at(
        self, kind: str, places: Sequence[int], words: str, least: int = 1, part: float = 0.0
    ) -> bool:
        """A finding about lines, in words that follow them, where they are enough."""
        if len(places) < max(least, part * self.total):
            return False
        segments = [place + 1 for place in places]
        words = words.replace("have ", "has ", 1) if len(segments) == 1 else words
        return self.add(kind, f": {quoted(segments, self.total)} {words}", places)


def check(
    references: Sequence[Sequence[str | None]],
    sources: Sequence[str | None] | None,
    systems: Mapping[str, Sequence[str | None]],
    tokenizers: Mapping[str, str] | None = None,
) -> tuple[Finding, ...]:
    """Look for what is wrong with submissions.

    Args:
        references: Reference sets, each with one line a segment; the first that has a line is what
            outputs are held against.
        sources: The source of each segment, where known.
        systems: The output of each system, one line a segment.
        tokenizers: The tokenizer of each metric that has one (`bleu`: `13a`).

    Returns:
        Findings by system, the most fundamental first; none where all is well.
    """
    if not references or not systems:
        return ()
    first: Sequence[str | None] = references[0]
    if None in first and len(references) > 1:
        first = [
            next((line for line in lines if line is not None), None)
            for lines in zip(*references, strict=True)
        ]
    reference = texts.Lines(first)
    source = texts.Lines(sources) if sources is not None else None
    findings = check_tokenizers(reference, tokenizers or {})
    outputs = [
        Output(name, texts.Lines(lines), reference, source, findings)
        for name, lines in systems.items()
    ]
    for output in outputs:
        _look_at(output)
    for b, output in enumerate(outputs):
        for other in outputs[:b]:
            same = equal_lines(output.text, other.text)
            _copied("equals_system", output, same, SAME, other.name)
    return tuple(findings)


def _look_at(output: Output) -> None:
    """All that one output is looked at for, except that it is another's."""
    before = len(output.findings)
    find_empty(output)
    find_copies(output)
    copied = [f for f in output.findings[before:] if f.kind.startswith("equals")]
    if sum(len(f.segments) for f in copied) < MANY * output.total:
        if not find_scripts(output):
            find_languages(output)
        if all(finding.segments for finding in output.findings[before:]):
            for find in (find_shifts, find_frames, find_lengths, find_surface):
                find(output)
    find_repeated(output)
    find_damage(output)


def quoted(segments: Sequence[int], total: int) -> str:
    """Segments in words: `segment 4`, `segments 1-3, 7 and 12 others`, `all 100 segments`."""
    if len(segments) == total:
        return f"all {total:,} segments"
    stretches: list[tuple[int, int]] = []
    for segment in segments:
        if stretches and segment == stretches[-1][1] + 1:
            stretches[-1] = (stretches[-1][0], segment)
        else:
            stretches.append((segment, segment))
    shown = [f"{a}" if a == b else f"{a}-{b}" for a, b in stretches[:LISTED]]
    rest = len(segments) - sum(b - a + 1 for a, b in stretches[:LISTED])
    more = f" and {rest:,} other{'' if rest == 1 else 's'}" if rest else ""
    return f"segment{'' if len(segments) == 1 else 's'} {', '.join(shown)}{more}"


# Lines that are no translations: empty, or those of the source, the reference, another system.

SUBSTANTIAL = 20  # characters of a line that two texts do not share by chance
UNTRANSLATED = 0.005  # share of lines equal to the source
LEAKED = 0.5  # share of lines equal to the reference
SAME = 0.9  # share of lines equal to those of another system
RUN = 10  # equal lines one after the other
CHANCE = 1e-9  # of such a run, if lines were equal independently
REPEATED = 0.003  # share of lines that stand for unlike references, too
OFTEN = 4  # unlike references for which one line stands
UNLIKE = 0.3  # share of words that two references have in common, at most


def find_empty(output: Output) -> None:
    """Lines without text where the reference has some."""
    lines, references = map(str.strip, output.text.lines), output.reference.lines
    blank = [i for i, line in enumerate(lines) if not line and references[i].strip()]
    output.at("empty", blank, "have no output")


def find_copies(output: Output) -> None:
    """Lines of the source where the reference has others; more of the reference than is usual."""
    if output.source is not None:
        same = equal_lines(output.text, output.source)
        same &= ~equal_lines(output.source, output.reference)
        _copied("equals_source", output, same, UNTRANSLATED, "the source")
    same = equal_lines(output.text, output.reference)
    _copied("equals_reference", output, same, LEAKED, "the reference")


def equal_lines(text: texts.Lines, other: texts.Lines) -> NDArray[np.bool_]:
    """(n,) whether lines are equal, and long enough to mean something; all of them where all are.

    By their hashes, 64 bits with a key of this process: many systems that are nearly the same cost
    no more than others.
    """
    same, long = text.hashes == other.hashes, text.lengths >= SUBSTANTIAL
    return same if same.all() and long.any() else same & long


def _copied(kind: str, output: Output, same: NDArray[np.bool_], usual: float, whose: str) -> None:
    """Equal lines, where they are more than usual, or many one after the other."""
    total, places = output.total, np.flatnonzero(same).tolist()
    count = len(places)
    if count >= max(FEW, usual * total):
        where = "" if count == total else f" ({quoted([i + 1 for i in places], total)})"
        output.add(kind, f": {count:,} of {total:,} lines are those of {whose}{where}", places)
    elif count >= RUN:
        edges = np.flatnonzero(np.diff(np.concatenate([[0], same.astype(np.int8), [0]])))
        longest = 2 * int(np.argmax(edges[1::2] - edges[::2]))
        start, end = edges[longest : longest + 2].tolist()
        outside = (count - (end - start) + 1) / (total - (end - start) + 2)
        if total * math.pow(min(outside, 0.999), end - start) < CHANCE:
            output.at(kind, range(start, end), f"are those of {whose}", least=RUN)


def find_repeated(output: Output) -> None:
    """Lines that stand for several segments whose references have little in common.

    Where sources are the same, so may outputs be, in whatever words references say it.
    """
    text, source = output.text, output.source
    long = text.lengths >= SUBSTANTIAL
    ordered = np.sort(text.hashes[long])
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    together: defaultdict[str, list[int]] = defaultdict(list)
    for i in np.flatnonzero(long & np.isin(text.hashes, again)).tolist():
        together[text.lines[i]].append(i)
    groups: Iterable[list[int]] = together.values()
    if source is not None:  # of segments with the same source the first
        groups = [sorted({source.lines[i]: i for i in reversed(own)}.values()) for own in groups]
    unlike = [_unlike(group, output.reference) for group in groups]
    often = max(map(len, unlike), default=0) >= OFTEN
    words = "repeat lines of other segments, though the references differ"
    least, part = (1, 0.0) if often else (FEW, REPEATED)
    output.at("copied_lines", sorted(chain.from_iterable(unlike)), words, least, part)


def _unlike(group: Sequence[int], reference: texts.Lines) -> list[int]:
    """Segments whose references have little in common with the first one's."""
    first, *others = (reference.lines[i] for i in group)
    words = {*first.split()}
    unlike = []
    for i, line in zip(group[1:], others, strict=True):
        theirs = {*line.split()}
        if len(words) > 2 or len(theirs) > 2:
            alike = len(words & theirs) / max(1, min(len(words), len(theirs)))
        else:
            alike = len({*first} & {*line}) / max(1, len({*first, *line}))
        if alike < UNLIKE:
            unlike.append(i)
    return unlike


# Script and language, held against the references; scripts that need a tokenizer.

UNSPACED = {
    "Han": ("Chinese", "zh"),
    "Kana": ("Japanese", "ja-mecab"),
    "Hangul": ("Korean", "ko-mecab"),
    **{name: (name, "char") for name in ("Thai", "Lao", "Khmer", "Myanmar", "Tibetan")},
}
AT_BLANKS = {"13a", "intl", "none", "tercom", "mteval-13a", "mteval-intl"}  # tokenizers that cut
KOREAN = " (Korean has none before its particles)"
EAST_ASIAN = {"zh", "asian"}  # that cut Han, perhaps Kana, and all else at blanks
LOST = 0.25  # share of a script's part in the references that an output must keep
LEADING = 0.25  # of the letters that scripts of whole lines have, more than those of names only
FOREIGN_LINE = 0.3  # share of expected letters below which a line is in another script
FAMILIAR_LINE = 0.7  # the same of the reference, above which that is a surprise
FOREIGN_PART = 0.3  # of the characters of such a line, blanks and digits among them
ENOUGH = 6  # letters of a reference line that is judged
PART = 0.01  # share of lines in another script before anything is said
STRANGE = 0.02  # share of lines that are looked at, in another language
WORDS = 7  # of a text that is judged
EXPECTED = 3.0  # common words that a line has on average, from which one with none is strange
LEAST_SHARE = 0.5  # share of the references' common words that an output in their language has


def find_scripts(output: Output) -> bool:
    """An output, or lines of it, in other scripts than the references."""
    ours, theirs = output.text.sample, output.reference.sample
    scripts = [texts.NAMES[s] for s in theirs.main]
    kept, there = (t.letters[theirs.main] / max(1, t.letters.sum()) for t in (ours, theirs))
    if (kept < LOST * there).any() or kept.sum() < 0.5 * there.sum():
        has = ", ".join(texts.NAMES[s] for s in ours.main) or "no letters"
        words = f" is written in {has}, the references in {', '.join(scripts)}"
        return output.add("wrong_script", words)
    words = f"are hardly in {' or '.join(scripts)}, as their references are"
    return output.at("wrong_script", _foreign_lines(output), words, FEW, PART)


def _foreign_lines(output: Output) -> list[int]:
    """Lines with letters in other scripts where the reference has them in its own."""
    lines, letters = output.text.lines, output.reference.sample.letters
    scripts = np.flatnonzero(letters >= LEADING * max(1, letters.sum())).tolist()
    foreign, places = _foreign_letters(*scripts), [*range(len(lines))]
    if not foreign[ord("a")]:  # then no line of ASCII has foreign letters
        places = [i for i, ascii_only in enumerate(map(str.isascii, lines)) if not ascii_only]
    at, _ = texts.standing([lines[i] for i in places], foreign)
    strange = np.bincount(at, minlength=len(places))
    many = strange >= np.maximum(ENOUGH, FOREIGN_PART * output.text.lengths[places])
    lost = []
    for i in compress(places, many):
        ours, theirs = (
            texts.letters_of(Counter(t.lines[i])) for t in (output.text, output.reference)
        )
        expected, total = theirs[scripts].sum(), theirs.sum()
        judged = total >= ENOUGH and expected >= FAMILIAR_LINE * total
        if judged and ours[scripts].sum() < FOREIGN_LINE * ours.sum():
            lost.append(i)
    return lost


@lru_cache(maxsize=16)
def _foreign_letters(*main: int) -> NDArray[np.uint8]:
    """1 for each code point that is a letter of another than some scripts."""
    return (~np.isin(texts.table_of_scripts(), [texts.OTHER, *main])).astype(np.uint8)


def find_languages(output: Output) -> None:
    """An output, or lines of it, without the common words of the references."""
    common, spaced = output.reference.common, output.reference.sample.spaced
    ours, theirs = output.text.words(spaced), output.reference.words(spaced)
    apart = [*chain.from_iterable(theirs[1::2])]  # common words are those of the other lines
    words, right = sum(map(len, ours)), len(apart)
    here = sum(map(common.__contains__, chain.from_iterable(ours)))
    there = sum(map(common.__contains__, apart))
    if words < WORDS or right < WORDS or words * there < EXPECTED * right:
        return
    usual = there / right
    if here / words < LEAST_SHARE * usual:
        foreign = {*output.source.common} - {*common} if output.source is not None else set()
        like_source = sum(map(foreign.__contains__, chain.from_iterable(ours))) > here
        language = "that of the source" if like_source else "another than that of the references"
        output.add(
            "wrong_language",
            f": the language seems to be {language}: {here / words:.0%} of its words are among the "
            f"{len(common)} most common of the references, where {usual:.0%} are usual",
        )
        return
    looked_at = texts.spread(0, output.total, texts.LOOKED_AT)
    strange = [
        i
        for i, line, right_line in zip(looked_at, ours, theirs, strict=True)
        if common.keys().isdisjoint(line)
        and len(line) * usual >= EXPECTED
        and len(common.keys() & right_line) >= 2
    ]
    compared = f"than the references ({len(looked_at):,} segments were looked at)"
    enough = max(FEW, math.ceil(STRANGE * len(looked_at)))
    seem = f"seem to be in another language {compared}"
    output.at("wrong_language", strange, seem, enough)


def check_tokenizers(references: texts.Lines, tokenizers: Mapping[str, str]) -> list[Finding]:
    """Metrics whose tokenizer does not cut the words of the references' script.

    Args:
        references: The first reference set.
        tokenizers: The tokenizer of each metric that has one, by the metric's label (`bleu`:
            `13a`).
    """
    sample, findings = references.sample, []
    letters = {texts.NAMES[s]: sample.letters[s] for s in sample.main if texts.NAMES[s] in UNSPACED}
    script = "Kana" if "Kana" in letters else max(letters, key=letters.__getitem__, default="")
    language, needed = UNSPACED.get(script, ("", ""))
    for metric, used in tokenizers.items():
        if not script or not (used in AT_BLANKS or (used in EAST_ASIAN and needed == "char")):
            continue
        made = f"scripts with blanks between words{KOREAN if script == 'Hangul' else ''}"
        advice = f"use chrf, or bleu:tokenize={needed}"
        if metric.partition(":")[0] == "bleu":
            other = "" if needed in {"char", "zh"} else " or bleu:tokenize=char"
            advice = f"ask for bleu:tokenize={needed}{other}"
        elif metric.partition(":")[0] == "ter" and script in {"Han", "Kana"}:
            advice = "ask for ter:normalized=true,asian_support=true"
        sentence = (
            f"The references are in {script} script ({language}), and {metric} cuts words with the "
            f"tokenizer {used}, made for {made if used in AT_BLANKS else 'Chinese and Japanese'}; "
            f"{advice}."
        )
        findings.append(Finding("tokenizer", "", (), sentence))
    return findings


# Lines that stand in the wrong place. Lengths of lines find stretches that fit better some lines up
# or down; words decide. Where a text is displaced further, rare words say where its lines belong.

ROUGH = 10.0  # characters by which short lines differ for no reason
WORST = 1.0  # difference of log lengths beyond which a line says nothing more
PRICE = 0.12  # by how much lines must fit better, on average, to count
GAIN = 2.0  # what a stretch must gain in all before its words are looked at
SHORTEST = 6  # lines of a stretch
BETTER = 0.1  # share of words by which the other place must agree more
WINS = 0.7  # share of lines for which it must
SURE = 3  # rare words of another reference
DISPLACED = 0.002  # share of lines that belong elsewhere
COMPARED = 40  # lines of a stretch whose words are compared with those of others
FURTHEST = 12  # lines up or down where a line may belong by its length


def find_shifts(output: Output) -> bool:
    """Stretches of one output, or all of it, that belong elsewhere."""
    return _by_lengths(output) or _by_words(output)


def _by_lengths(output: Output) -> bool:
    """Stretches that fit better up to some lines up or down, the best first."""
    here, there = output.text.lengths, output.reference.lengths
    lengths, expected = np.log(here + ROUGH), np.log(there + ROUGH)
    known = (there > 0) & (here > 0)
    if known.sum() < SHORTEST:
        return False
    lengths -= np.median((lengths - expected)[known])
    lengths[here == 0], expected[there == 0] = np.inf, -np.inf
    gains = _misfit(lengths, expected) * known - PRICE
    if _best_stretch(gains)[0] < 0.99 * GAIN:  # what lines gain at the most wherever they belong
        return False
    total = output.total
    most = min(FURTHEST, total - SHORTEST - 1)
    stretches = []
    for k in (*range(-most, 0), *range(1, most + 1)):
        at, to = slice(max(0, -k), total - max(0, k)), slice(max(0, k), total - max(0, -k))
        gain, start, end = _best_stretch(gains[at] - _misfit(lengths[at], expected[to]))
        if gain >= GAIN and end - start >= SHORTEST:
            stretches.append((gain, k, at.start + start, at.start + end))
    taken = np.zeros(total, bool)
    for _, k, start, end in sorted(stretches, reverse=True):
        if not taken[start:end].any() and _agrees(output, k, start, end):
            taken[start:end] = _shifted(output, k, start, end)
    return bool(taken.any())


def _misfit(lengths: NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) how far lengths differ; as far as can be where one is not known."""
    return np.minimum(np.abs(lengths - expected), WORST)


def _best_stretch(gains: NDArray[np.float64]) -> tuple[float, int, int]:
    """The most that lines in a row gain, where they begin and where they end."""
    sums = np.zeros(len(gains) + 1)
    np.cumsum(gains, out=sums[1:])
    rises = sums - np.minimum.accumulate(sums)
    end = int(rises.argmax())
    return float(rises[end]), int(sums[: end + 1].argmin()), end


def _agrees(output: Output, k: int, start: int, end: int) -> bool:
    """Whether words, too, say that a stretch belongs k lines further."""
    spaced, references = output.reference.sample.spaced, output.reference.lines
    gained = []
    for i in texts.spread(start, end, COMPARED):
        lines = (output.text.lines[i], references[i], references[i + k])
        words, here, there = ({*texts.split(line.lower(), spaced)} for line in lines)
        if words and here and there and here != there:
            overlaps = (len(words & own) / min(len(words), len(own)) for own in (there, here))
            gained.append(next(overlaps) - next(overlaps))
    if len(gained) < SHORTEST:
        return False
    wins = sum(gain > 0 for gain in gained) / len(gained)
    return wins >= WINS and float(np.mean(gained)) >= BETTER


def _shifted(output: Output, k: int, start: int, end: int) -> bool:
    lines = f"{abs(k)} line{'' if abs(k) == 1 else 's'}"
    all_there_are = end - start >= 0.9 * (output.total - abs(k))
    where = "all its lines" if all_there_are else quoted(range(start + 1, end + 1), output.total)
    words = (
        f": {where} seem shifted by {lines}: the output of segment {start + 1} fits the reference "
        f"of segment {start + 1 + k}"
    )
    return output.add("shifted", words, range(start, end))


def _by_words(output: Output) -> bool:
    """Lines without a rare word of their reference and with several of another.

    Two such words count. Of real outputs, no two lines have those of each other, and one line in
    20,000 has SURE of another (`tests/sigtest/data/test_health_shared.py`).
    """
    (rare, places), spaced = output.reference.rare, output.reference.sample.spaced
    cut = str.split if spaced else partial(texts.split, spaced=False)
    lines = output.text.lines
    moves: dict[int, int] = {}
    sure = []
    for i in np.flatnonzero([*map(set.isdisjoint, rare, map(cut, lines))]).tolist():
        known = places.keys() & {*cut(lines[i])}
        votes = [place for word in known for place in places[word]]
        if len({*votes}) == len(votes):  # nearly always
            continue
        best, count = max(Counter(votes).items(), key=lambda vote: (vote[1], -vote[0]))
        moves[i] = best
        if count >= SURE:
            sure.append(i)
    moved = [i for i, place in moves.items() if moves.get(place) == i]
    if len(sure) >= max(SHORTEST, DISPLACED * output.total):
        moved = sure
    if not moved:
        return False
    k, agreed = Counter(moves[i] - i for i in moved).most_common(1)[0]
    if agreed >= max(SHORTEST, 0.6 * len(moved)):
        shifted = [i for i in moved if moves[i] - i == k]
        return _shifted(output, k, shifted[0], shifted[-1] + 1)
    first = moved[0]
    words = (
        f": lines stand in another order than the references: {len(moved)} of {output.total:,} fit "
        f"other segments (such as segment {first + 1}, which fits the reference of segment "
        f"{moves[first] + 1})"
    )
    return output.add("shifted", words, moved)


# The surface: damaged letters, tokens, capitals, lengths, ends that are missing.

LEADS = "\xc2\xc3\xd0\xd1\xd7\xd8\xd9\xe0\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9"
LATIN = "[\u0080-\u00bf\u0152\u0153\u0160\u0161\u017d\u017e\u0192\u02c6\u02dc\u2013-\u2122]"
ALPHABET = "[\u0080-\u00bf\u0152-\u0192\u02c6\u02dc\u2013-\u2122]"
INDIC, HAN = "[\u00a4-\u00b7].", "[\u0080-\u00bf\u2013-\u2122]."
KANA = "[\u0080-\u0083\u0192\u201a\u20ac]."
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
CUT_PART = 0.02
ENDED = 0.1  # share of lines with the mark that ends a sentence, above which an output writes it
SHORT, LONG = 0.5, 2.0  # times the usual length
SHORT_PART = 0.02
LOOPED, PIECE = 0.5, 8  # share of pieces of so many characters that differ, in a line that loops
GROWN = 1.3  # times the length of its reference that such a line has
LINE = 40  # characters of a reference from which lengths are compared
TOO_SHORT, TOO_LONG = 0.7, 1.5  # characters of an output for each of the reference
SPACED = 0.5  # share of marks with a blank before them, in tokenised text
JOINED = 0.1  # the same, in plain text
FRAMED = 50  # lines that are looked at for marks before or round them
QUOTES = "[\"'\u2018-\u201f\u00ab\u00bb\u2039\u203a\u300c-\u300f]"  # of all languages
FRAMES = (  # what a list, a table or another file than plain text has on every line
    ("stand between quotation marks", re.compile(rf"{QUOTES}.*{QUOTES}[.,;\u3002]?\s*$")),
    ("begin with a number or a time", re.compile(
        r"\d+(?:[:/.-]\d+)+\s|\d+(?:[.):|\]]\s|[\u3001\uff0e\uff09\uff1a])"
        r"|[\[{(#\uff08\u3010]\d|-?\d+\.\d{2,}\s")),
    ("begin with the mark of a list or a diff", re.compile(
        r"(?:[-*+>\u2022\u00b7]|#+)\s|[-+](?=\S)|[\u2013-\u2015\u30fb]")),
    ("begin with a name before = or :", re.compile(
        r'"?[^\W\d][^=:\uff1a,;!?"]{0,30}"?\s?[=:\uff1a]')),
    # of NLLB, mBART, OPUS-MT, MADLAD, M2M
    ("begin with the tag of a language", re.compile(
        r"[a-z]{2,3}_[A-Z][A-Za-z]{1,3}\s|>>\w+<<|<2\w+>|__\w+__")),
    # of Kaldi and ESPnet
    ("begin with an id", re.compile(r"[A-Za-z][^\W_]*+[_-](?=\S*\d)[\w.-]+\s")),
)  # fmt: skip
DAMAGE = (  # what it is, lines from which it is said, a symbol of such lines, and what they match
    ("replacement characters (U+FFFD)", 1, "\ufffd", ""),
    ("UTF-8 read as another encoding", 2, LEADS, MOJIBAKE),
    ("control characters", 1, CONTROLS, ""),
    ("letters that became question marks", 3, "?", LOST_LETTERS),
    ("HTML entities", SOME, "&", ENTITY),
    ("escapes such as \\u00e9", 2, "\\", ESCAPE),
    ("pieces of words or tokens such as @@ or <unk>", SOME, "@\u2581<", SUBWORDS),
    ("accents apart from their letters (Unicode NFD)", SOME, ACCENTS, ""),
)


def find_damage(output: Output) -> None:
    """Letters that were decoded wrongly or lost, and marks of other programs."""
    ours, theirs = output.text.lines, output.reference.lines
    for kind, lines in enumerate(_damaged(output.text)):
        what, least, marks, _ = DAMAGE[kind]
        if marks == "?":  # which French has a blank before: then the reference asks, too
            lines = [i for i in lines if _asks(ours[i]) > _asks(theirs[i])]
        usual = 2 * len(_damaged(output.reference)[kind]) if lines else 0
        output.at("encoding", lines, f"have {what}", max(least, usual + 1))


def _asks(line: str) -> int:
    return sum(map(line.count, ASKING))


def _damaged(text: texts.Lines) -> list[list[int]]:
    """Lines with each kind of damage; its marks are looked for first, in all lines at once."""
    places, marks = texts.standing(text.lines, _marks())
    damaged: list[list[int]] = [[] for _ in DAMAGE]
    for kind, (*_, pattern) in enumerate(DAMAGE):
        if np.bitwise_or.reduce(marks) & 1 << kind:
            lines = dict.fromkeys(places[marks & 1 << kind > 0].tolist())
            damaged[kind] = [i for i in lines if re.search(pattern, text.lines[i])]
    return damaged


@cache
def _marks() -> NDArray[np.uint8]:
    """A bit for each kind of damage whose mark a code point of the basic plane is."""
    table = np.zeros(texts.BASIC, np.uint8)
    for kind, (_, _, marks, _) in enumerate(DAMAGE):
        table[texts.points_of(marks)] |= 1 << kind
    return table


def find_frames(output: Output) -> None:
    """Marks before or round every line, where the references have none."""
    first = [i for i, line in enumerate(output.text.lines[:FRAMED]) if line.strip()]
    for words, frame in FRAMES if len(first) >= SOME else ():
        ours, theirs = (
            sum(frame.match(text.lines[i].lstrip()) is not None for i in first)
            for text in (output.text, output.reference)
        )
        if ours == len(first) >= 2 * theirs:
            words = f": lines {words}, those of the references do not"
            output.add("framed", words)
            break


Beside = Callable[[texts.LineSample, texts.LineSample], bool]
# by kind: whether a sample of the output is so beside one of the references, and what is said then
SURFACE: Mapping[str, Sequence[tuple[Beside, str]]] = {
    "tokenised": (
        (lambda ours, theirs: ours.spaced_marks >= SPACED and theirs.spaced_marks <= JOINED,
         " is tokenised (blanks before marks), the references are not"),
        (lambda ours, theirs: theirs.spaced_marks >= SPACED and ours.spaced_marks <= JOINED,
         " is not tokenised, the references are (blanks before marks)"),
        (lambda ours, theirs: ours.blanks > 0.2 and theirs.blanks < 0.05,
         " has blanks between words or characters, and the references have none"),
        (lambda ours, theirs: theirs.blanks > 0.2 and ours.blanks < 0.05,
         " has no blanks between words or characters, which the references have"),
    ),
    "case": (
        (lambda ours, theirs: theirs.capitals > 0.01 and ours.capitals < 0.1 * theirs.capitals,
         " has hardly any capital letters, which the references have"),
        (lambda ours, theirs: theirs.capitals < 0.5 and ours.capitals > 0.9,
         " has capital letters only, and the references have small ones, too"),
        (lambda ours, theirs: ours.capitals > 0.01 and theirs.capitals < 0.1 * ours.capitals,
         " has capital letters, of which the references have hardly any"),
    ),
}  # fmt: skip


def find_surface(output: Output) -> None:
    """Blanks before marks or between words, and capital letters, on one side only."""
    ours, theirs = output.text.sample, output.reference.sample
    for kind, rows in SURFACE.items():
        words = next((words for holds, words in rows if holds(ours, theirs)), None)
        if words is not None:
            output.add(kind, words)


def find_lengths(output: Output) -> None:
    """An output, or lines of it, far shorter or longer than the references; ends cut off."""
    ours, theirs = output.text.lengths, output.reference.lengths
    judged = (theirs > 0) & (ours > 0)
    if not judged.any():
        return
    ratio = ours[judged].sum() / theirs[judged].sum()
    if not TOO_SHORT <= ratio <= TOO_LONG:
        words = f" has {ratio:.2f} characters for each character of the references"
        output.add("length", words)
    cut = _cut_lines(output, ratio)
    words = "end early, without the mark that ends a sentence"
    output.at("truncated", cut, words, SOME, CUT_PART)
    expected = min(max(ratio, TOO_SHORT), TOO_LONG) * theirs
    judged &= theirs >= LINE
    judged[cut] = False
    short, long = (
        np.flatnonzero(judged & far).tolist()
        for far in (ours < SHORT * expected, ours > LONG * expected)
    )
    words = "are {} as long as the references suggest"
    output.at("truncated", short, words.format("less than half"), SOME, SHORT_PART)
    if not output.at("length", long, words.format("more than twice"), SOME, SHORT_PART):
        grown = np.flatnonzero((ours >= LINE) & (ours > GROWN * theirs) & (theirs > 0)).tolist()
        lines, references = output.text.lines, output.reference.lines
        looping = [i for i in grown if variety(lines[i]) < LOOPED * variety(references[i])]
        output.at("length", looping, "repeat the same words on and on", SOME)


def _cut_lines(output: Output, ratio: float) -> list[int]:
    """Lines that are shorter than usual and do not end like their references.

    None where hardly any line of the output ends so: then it is no sign of a cut.
    """

    def ends(text: texts.Lines, i: int) -> bool:
        """Whether a line ends with the mark of a sentence."""
        return text.lines[i].rstrip(CLOSING)[-1:] in ENDS

    ours, theirs = output.text.lengths, output.reference.lengths
    short = (ours < 0.8 * min(max(ratio, TOO_SHORT), 1.2) * theirs) & (theirs >= LINE)
    places, others = (np.flatnonzero(own & (ours > 0)).tolist() for own in (short, ~short))
    cut = [i for i in places if ends(output.reference, i) and not ends(output.text, i)]
    if len(cut) < SOME:
        return cut
    expected = [i for i in others[: texts.LOOKED_AT] if ends(output.reference, i)]
    ended = [ends(output.text, i) for i in expected]
    return cut if sum(ended) > ENDED * len(ended) or not ended else []


def variety(line: str) -> float:
    """The share of pieces of a line that differ; 1 where there is no piece."""
    pieces = [line[i : i + PIECE] for i in range(len(line) - PIECE + 1)]
    return len(set(pieces)) / len(pieces) if pieces else 1.0
