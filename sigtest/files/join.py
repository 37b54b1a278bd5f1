"""Several materials as one: segments joined by their ids, never by luck."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from unicodedata import normalize

from sigtest.data.choices import choose
from sigtest.data.numbers import in_digits
from sigtest.data.runs import sentences
from sigtest.errors import InputError, LengthError, quoted
from sigtest.files.material import WHICH, Line, Material, SystemScores, examples

WAYS = ("error", "drop")  # with segments that only some have
LISTED = 8  # sets of missing segments in a sentence
DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class Joining:
    """What to do where files do not match of themselves.

    Attributes:
        missing: About segments that only some have, or that have no score: refuse all, naming
            examples, or drop them for every system and say so in the notes.
        testset: Which test set or pair of languages to keep, where there are several.
        runs: Whether what several files say of one system are its runs.
        labels: Whether lines of numbers alone are labels, as metrics of labels take them.
        wanted: Labels of the scores that are asked for, in small letters, "" for all; where nobody
            said which, those without gaps are compared if there are some.
        without: Systems that are left out.

    Raises:
        RecipeError: No such way with missing segments.
    """

    missing: str = "error"
    testset: str | None = None
    runs: bool = False
    labels: bool = False
    wanted: frozenset[str] | None = None
    without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        choose(self.missing, WAYS, "missing", "way with missing segments")


STRICT = Joining()


def join(materials: Sequence[Material], how: Joining = STRICT) -> Material:
    """Put together what several files bring, so that nothing is missing in it.

    Args:
        materials: In order; that of segments is the first one's with texts, or the first one's.
        how: What to do where they do not match.

    Raises:
        InputError: Segments that do not match or have no score, several test sets, different items
            under one id, two outputs or scores of one system.
        LengthError: Files without ids that are not equally long.
    """
    parts = _of_testset(materials, how.testset)
    combined = combine(parts, how)
    for name in how.without:
        if _left_out(name) not in combined.notes:
            choose(name, combined.system_names, "without", "system")
    joined = _complete(_of_interest(combined, how), how.missing)
    notes = (*joined.notes, *sentences(joined.crossed), *doubts(joined.scores, joined.system_names))
    return replace(joined, notes=tuple(dict.fromkeys(notes)))


def combine(materials: Sequence[Material], how: Joining = STRICT) -> Material:
    """Put together what several files bring; scores may still be missing where files say so.

    Raises:
        InputError: See `join`.
        LengthError: See `join`.
    """
    parts = [part.of_testset(how.testset) for part in _of_testset(materials, how.testset)]
    parts = [_with_entries(part, how.without) for part in parts]
    if not parts:
        return Material()
    _require_one_testset(parts)
    notes = [note for part in parts for note in part.notes]
    aligned = _aligned(parts, how.missing, notes) if len(parts) > 1 else parts
    notes += _repeated(aligned)
    merged = _merged(aligned, how.runs) if len(parts) > 1 else parts[0]
    return replace(merged, notes=tuple(notes))


def _of_testset(materials: Sequence[Material], testset: str | None) -> Sequence[Material]:
    """Those that have something of a test set; all, where none has, for the message."""
    if testset is None:
        return materials
    if materials and all(part.testsets is None for part in materials):
        raise InputError(
            f"Nothing says which segments are of the test set {testset[:80]!r} that select "
            "(--testset in the shell) names; in a table a column testset does.",
            field="select",
        )
    about = [part for part in materials if part.testsets is None or testset in part.testsets]
    return about or materials


def _with_entries(part: Material, without: Sequence[str]) -> Material:
    """Without systems that are left out, and scores of which a test set has none."""
    scores = [own for own in part.scores if {v for run in own.runs for v in run} != {None}]
    out = {name: _left_out(name) for name in part.system_names if name in without}
    return replace(
        part,
        systems=tuple(own for own in part.systems if own[0] not in out),
        scores=tuple(own for own in scores if own.system not in out),
        notes=(*part.notes, *out.values()),
    )


def _left_out(name: str) -> str:
    return f"{name!r} is left out."


def _of_interest(joined: Material, how: Joining) -> Material:
    """Without scores that have gaps and that nobody asked for, unless a system has nothing else."""
    out = {own.label: len(own.missing) for own in joined.scores if own.missing}
    if how.wanted is not None:
        out = {k: n for k, n in out.items() if not how.wanted & {"", k.casefold()}}
    elif how.missing != "error":
        out = {}
    kept = tuple(own for own in joined.scores if own.label not in out)
    rest = replace(joined, scores=kept)
    if not out or {*rest.system_names} != {*joined.system_names}:
        return joined
    told = examples((f"{label!r} (none for {n:,})" for label, n in out.items()), LISTED)
    note = f"Scores that segments lack are not compared: {told}."
    return rest if how.wanted is not None else replace(rest, notes=(*joined.notes, note))


def _require_one_testset(parts: Sequence[Material]) -> None:
    """Check that all are about one test set, or about the same items by their keys."""
    names = list(dict.fromkeys(name for part in parts for name in part.testsets or ()))
    if len(names) < 2:
        return
    single = all(len(set(part.testsets or ())) < 2 for part in parts)
    if single and _share_items([part for part in parts if part.testsets is not None]):
        return
    raise InputError(
        f"{f'{parts[0].name} has' if len(parts) == 1 else 'The files have'} {len(names)} test sets "
        f"({examples(map(repr, names), 8)}); {WHICH}"
    )


def _share_items(parts: Sequence[Material]) -> bool:
    """Whether all have keys, and one key for each id."""
    known: dict[str, str | None] = {}
    return all(
        part.keys is not None
        and all(
            known.setdefault(i, key) == key
            for i, key in zip(part.ids or (), part.keys, strict=False)
        )
        for part in parts
    )


def _aligned(parts: Sequence[Material], missing: str, notes: list[str]) -> list[Material]:
    """All with the same segments in the same order."""
    if all(part.ids is None for part in parts):
        _require_equal(parts)
        return list(parts)
    parts = _with_ids(parts)
    first = next((p for p in parts if p.references or p.sources), parts[0])
    everywhere = set.intersection(*(set(part.ids or ()) for part in parts))
    lost = [(part.name, [i for i in part.ids or () if i not in everywhere]) for part in parts]
    if any(ids for _, ids in lost):
        if missing == "error" or not everywhere or _shifted(parts):
            raise InputError(_mismatch(parts, everywhere))
        listed = (f"{len(i):,} of {name} ({examples(map(repr, i))})" for name, i in lost if i)
        counts = "; ".join(dict.fromkeys(listed))  # one file may stand for several systems
        notes.append(
            f"Segments that not all files have are dropped, {counts}; {len(everywhere):,} are "
            "compared."
        )
    order = [i for i in first.ids or () if i in everywhere]
    aligned = []
    for part in parts:
        place = {name: k for k, name in enumerate(part.ids or ())}
        aligned.append(part.rows([place[i] for i in order]))
    _require_same_items(aligned)
    return aligned


def _with_ids(parts: Sequence[Material]) -> list[Material]:
    """Lines without ids get those of files that have them, where that is no guess."""
    plain = [part for part in parts if part.ids is None]
    if not plain:
        return list(parts)
    named = [part for part in parts if part.ids is not None]
    size = len(plain[0])
    _require_equal(plain)
    numbered = {id(part): _numbered(part, size) for part in named}
    if all(numbers is not None for numbers in numbered.values()):
        ids = tuple(str(i + 1) for i in range(size))
        return [replace(part, ids=numbered.get(id(part)) or ids) for part in parts]
    guide = next((part for part in named if part.ordered and len(part) == size), None)
    if guide is None:
        part = next(part for part in named if numbered[id(part)] is None)
        raise InputError(
            f"{plain[0].name} has {size:,} lines without ids and {part.name} {len(part):,} "
            f"segments with ids such as {examples(map(repr, part.ids or ()), 2)}; lines join only "
            "with ids that count them, or with a file in the order of the test set and as long. "
            "Give texts with ids (a table, SGML or XML), or scores one line a segment."
        )
    return [replace(part, ids=part.ids if part.ids is not None else guide.ids) for part in parts]


def _require_equal(parts: Sequence[Material]) -> None:
    """Check that files without ids are equally long."""
    size = len(parts[0])
    for part in parts:
        if len(part) != size:
            longer = max(part, parts[0], key=len)
            last = any(column[-1] == "" for column in longer.columns)
            empty = f" (the last line of {longer.name} is empty)" if last else ""
            raise LengthError(
                f"{part.name} has {len(part):,} line{'' if len(part) == 1 else 's'}, but "
                f"{parts[0].name} has {size:,}{empty}; every file needs one line a segment.",
                field=part.name,
                system=part.system_names[0] if len(part.system_names) == 1 else None,
            )


def _numbered(part: Material, size: int) -> tuple[str, ...] | None:
    """Ids as places from 1, where they are numbers from 0 or from 1 up to the number of lines."""
    ids = part.ids or ()
    if not all(in_digits(name) and name.isascii() for name in ids):
        return None
    numbers = [int(name) for name in ids]
    if len(set(numbers)) < len(numbers):
        return None
    if min(numbers) == 0 and max(numbers) < size:
        return tuple(str(number + 1) for number in numbers)
    return tuple(map(str, numbers)) if min(numbers) >= 1 and max(numbers) == size else None


def _mismatch(parts: Sequence[Material], everywhere: set[str]) -> str:
    """What one side has and another has not, with examples and what may be behind it."""
    for part in parts:
        for other in parts:
            has = set(other.ids or ())
            lacking = [i for i in part.ids or () if i not in has]
            if lacking:
                count = f"{len(lacking):,} of the {len(part):,}"
                hint = _hint(lacking, [i for i in other.ids or () if i not in set(part.ids or ())])
                drop = (
                    ""
                    if hint or not everywhere
                    else (
                        f' {len(everywhere):,} segments are in all files: missing "drop" '
                        "(--missing drop in the shell) compares on those."
                    )
                )
                return (
                    f"{other.name} has none for {count} segments of {part.name} "
                    f"({examples(map(repr, lacking))}).{hint}{drop}"
                )
    return "Segments do not match."


def _shifted(parts: Sequence[Material]) -> bool:
    """Whether one file counts from 0 and another, as long, from 1: one id is two segments then."""
    starts = {
        (min(numbers), len(numbers))
        for part in parts
        if all(map(in_digits, part.ids or ()))
        and (numbers := {int(name) for name in part.ids or ()})
        and max(numbers) - min(numbers) == len(numbers) - 1
    }
    return any((start + 1, size) in starts for start, size in starts)


def _hint(here: Sequence[str], there: Sequence[str]) -> str:
    """What turns ids of one file into those of another, if it is something simple."""

    def numbers(ids: Sequence[str]) -> list[int]:
        return [int(i) for i in ids if in_digits(i)]

    if len(here) == len(there) == 1 and in_digits(here[0]) and in_digits(there[0]):
        return f" The other has {there[0]!r} instead: does one count from 0 and the other from 1?"
    ways: Mapping[str, Callable[[str], str]] = {
        "by leading zeros": lambda i: DIGITS.sub(lambda d: d[0].lstrip("0") or "0", i),
        "by .0 at the end": lambda i: i.removesuffix(".0"),
        "in capital letters": str.lower,
        "by how accents are encoded (NFC or NFD)": lambda i: normalize("NFC", i),
        "by blanks and marks": lambda i: re.sub(r"[\W_]+", "", i),
        "by what stands before the number": lambda i: (DIGITS.findall(i) or [i])[-1],
        "by folders or suffixes": lambda i: i.rpartition("/")[2].partition(".")[0],
    }
    for what, way in ways.items():
        same = {way(i) for i in here} & {way(i) for i in there}
        if len(same) == min(len(set(here)), len(set(there))) and same:
            return f" Ids seem to differ only {what} ({here[0]!r}, {there[0]!r}); make them equal."
    return ""


def _repeated(parts: Sequence[Material]) -> list[str]:
    """What to say of files of references alone whose texts another file has already."""
    origin: dict[tuple[Line, ...], str] = {}
    notes = []
    for part in parts:
        alone = not part.systems and not part.scores
        for lines in part.references:
            if alone and lines in origin:
                notes.append(
                    f"The references of {part.name} are the same texts as those of "
                    f"{origin[lines]}; they count once."
                )
            origin.setdefault(lines, part.name)
    return notes


def _require_same_items(parts: Sequence[Material]) -> None:
    """Check that one id means one item: equal keys, equal sources."""
    for what, columns in (
        ("item", [(p, p.keys) for p in parts if p.keys is not None]),
        ("source", [(p, p.sources) for p in parts if p.sources is not None]),
        # of files that have one reference beside outputs or scores, rather than being one
        (
            "reference",
            [
                (p, p.references[0])
                for p in parts
                if len(p.references) == 1 and (p.systems or p.scores)
            ],
        ),
    ):
        for part, column in columns[1:]:
            first, known = columns[0]
            for i, (a, b) in enumerate(zip(known, column, strict=True)):
                if a is None or b is None or a.split() == b.split():
                    continue
                if what != "item" or not (a.startswith(b) or b.startswith(a)):  # one has no hash
                    names = {name for p in (first, part) for name in p.testsets or ()}
                    sets = f" ({examples(map(repr, sorted(names)))})" if len(names) > 1 else ""
                    differ = (k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
                    start = max(0, next(differ, 0) - 20)  # with some of what is the same
                    raise InputError(
                        f"{first.name} and {part.name} have another {what} under "
                        f"{part.segment(i)}, {quoted(a[start:])} and {quoted(b[start:])}; they are "
                        f"not about the same test set{sets}."
                    )


def _merged(parts: Sequence[Material], runs: bool) -> Material:
    """All columns side by side."""
    references: list[tuple[Line, ...]] = []
    for part in parts:
        references += [lines for lines in part.references if lines not in references]
    first = parts[0]
    return Material(
        references=tuple(references),
        systems=_outputs(parts, runs),
        documents=_agreed(parts, "documents", [part.documents for part in parts]),
        labels=_agreed(parts, "domains", [part.labels for part in parts]),
        sources=next((part.sources for part in parts if part.sources is not None), None),
        texts=tuple(text for part in parts for text in part.texts),
        scores=_tables(parts, runs),
        ids=first.ids,
        ordered=any(part.ordered for part in parts),
        keys=next((part.keys for part in parts if part.keys is not None), None),
        testsets=next((part.testsets for part in parts if part.testsets is not None), None),
        name=examples(dict.fromkeys(part.name for part in parts if part.name)),
    )


def _outputs(
    parts: Sequence[Material], runs: bool
) -> tuple[tuple[str, tuple[tuple[Line, ...], ...]], ...]:
    found: dict[str, tuple[tuple[Line, ...], ...]] = {}
    origin: dict[str, str] = {}
    for part in parts:
        for name, texts in part.systems:
            if name in found and found[name] != texts and not runs:
                raise InputError(
                    f"{origin[name]} and {part.name} both have an output of {name!r}, and they "
                    "differ. Give each its own name: in the file, or in the shell by NAME=FILE. "
                    "Runs of one system are told apart by a column run, or in the shell given by "
                    "--replicas NAME=FILE,FILE.",
                    system=name,
                )
            if name not in found or runs:
                found[name] = (*found.get(name, ()), *texts)
            origin.setdefault(name, part.name)
    return tuple(found.items())


def _tables(parts: Sequence[Material], runs: bool) -> tuple[SystemScores, ...]:
    found: dict[tuple[str, str], SystemScores] = {}
    origin: dict[tuple[str, str], str] = {}
    for part in parts:
        for table in part.scores:
            key = (table.system, table.label)
            if key in found and not runs:
                raise InputError(
                    f"{origin[key]} and {part.name} both have {table.label!r} scores of "
                    f"{table.system!r}. Give one, or each its own name: in the file, in the shell "
                    "by --scores LABEL:NAME=FILE, in a form by the file's name LABEL:NAME.tsv. "
                    "Runs of one system are told apart by a column run.",
                    system=table.system,
                )
            earlier = found[key].runs if key in found else ()
            found[key] = replace(table, runs=(*earlier, *table.runs))
            origin.setdefault(key, part.name)
    return tuple(found.values())


def _agreed(
    parts: Sequence[Material], what: str, columns: Sequence[tuple[str, ...] | None]
) -> tuple[str, ...] | None:
    """A column that is the same wherever it is known."""
    known = [(part, column) for part, column in zip(parts, columns, strict=True) if column]
    for part, column in known[1:]:
        if column != known[0][1]:
            i = next(i for i, (a, b) in enumerate(zip(column, known[0][1], strict=True)) if a != b)
            raise InputError(
                f"{known[0][0].name} and {part.name} name different {what}: {part.segment(i)} is "
                f"in {known[0][1][i]!a} and in {column[i]!a}."
            )
    return known[0][1] if known else None


def _complete(joined: Material, missing: str) -> Material:
    """Without segments for which some system has no output or score, or an error."""
    if missing == "error":
        joined.require_complete()
        return joined
    gaps: dict[str, set[int]] = {}
    for name, texts in joined.systems:
        empty = {i for lines in texts for i, line in enumerate(lines) if line is None}
        gaps[f"system {name!r} has no hypothesis"] = empty
    for table in joined.scores:
        gaps[f"system {table.system!r} has no {table.label!r} score"] = set(table.missing)
    gone = set().union(*gaps.values()) if gaps else set()
    if not gone:
        return joined
    kept = [i for i in range(len(joined)) if i not in gone]
    if not kept:
        raise InputError(
            f"{joined.name}: no segment has an entry of every system; leave some systems or scores "
            "out."
        )
    alike: dict[frozenset[int], list[str]] = {}  # the same segments are named once
    for what, own in gaps.items():
        alike.setdefault(frozenset(own), []).append(what)
    listed = [
        f"{examples(who)} for {len(own):,} ({examples(joined.segment(i) for i in sorted(own))})"
        for own, who in alike.items()
        if own
    ]
    told = "; ".join([*listed[:LISTED], *(["and others"] if len(listed) > LISTED else [])])
    note = (
        f"{len(gone):,} of {len(joined):,} segments are dropped for all systems because something "
        f"is missing: {told}; {len(kept):,} are compared."
    )
    return replace(joined.rows(kept), notes=(*joined.notes, note))


UNEQUAL_SCALES = 50.0  # how many times the mean of one system may be that of another
STAND_INS = (-1.0, -99.0, -999.0, -9999.0, -99999.0)  # what programs write for no score
FEWEST = 2  # other scores that show what a score is
LISTED = 8  # metrics in a sentence


def doubts(tables: Sequence[SystemScores], systems: Sequence[str]) -> list[str]:
    """Sentences about scores that may not be what they seem.

    Args:
        tables: All scores of all systems.
        systems: Names of all systems.
    """
    labels = dict.fromkeys(table.label for table in tables)
    by_label = {label: [table for table in tables if table.label == label] for label in labels}
    found = [
        sentence
        for label, alike in by_label.items()
        for sentence in [*_stand_ins(alike)] or _unequal_scales(label, alike)
    ]
    return [*found, *_unshared(by_label, systems)]


def _unshared(
    tables: Mapping[str, Sequence[SystemScores]], systems: Sequence[str]
) -> Iterator[str]:
    """Which scores some systems lack, so that they do not count."""
    lacking = {
        label: [name for name in systems if name not in {table.system for table in alike}]
        for label, alike in tables.items()
    }
    told = [f"{label!r} (not of {names[0]!r})" for label, names in lacking.items() if names]
    if told:
        yield f"Scores that not all systems have are not compared: {examples(told, LISTED)}."


def _unequal_scales(label: str, tables: Sequence[SystemScores]) -> Iterator[str]:
    """Whether scores are fractions in one system and percent in another."""
    means: dict[str, float] = {}
    for table in tables:
        sizes = [abs(v) for v in table.values if isinstance(v, float | int)]
        if sizes and max(sizes) > 0:
            means[table.system] = sum(sizes) / len(sizes)
    if len(means) < 2:
        return
    low, high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    if means[low] <= 1 < means[high] and means[high] > UNEQUAL_SCALES * means[low]:
        yield (
            f"{label}: scores of {low!r} are about {means[low]:.3g} and those of {high!r} "
            f"about {means[high]:.3g}; one may be a fraction and the other percent."
        )


def _stand_ins(tables: Sequence[SystemScores]) -> Iterator[str]:
    """Whether the only negative scores are all the same number, as programs write for none."""
    for table in tables:
        values = [v for run in table.runs for v in run if isinstance(v, float | int)]
        negative = {v for v in values if v < 0}
        count = sum(v < 0 for v in values)
        if len(negative) == 1 and negative <= {*STAND_INS} and len(values) - count >= FEWEST:
            yield (
                f"{table.label}: {count:,} of {len(values):,} scores of {table.system!r} "
                f"{'is' if count == 1 else 'are'} {min(negative):g} and no other is negative; if "
                "that stands for a missing score, leave it empty."
            )
