"""Several materials as one: segments joined by their ids, never by luck."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from unicodedata import normalize

from sigtest.data.names import choose
from sigtest.data.runs import ALONE, sentences
from sigtest.data.text import in_digits
from sigtest.errors import InputError, LengthError, quoted
from sigtest.files.material import WHICH, Line, Material, SystemScores, examples

WAYS = ("error", "drop")  # with segments that only some have
COLUMNS = ("systems", "metrics", "tasks")  # what those of numbers may be: systems, also of tasks
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
        wanted: Labels of the scores that are asked for, in small letters, "" for all, each with how
            many runs of a segment must be there to be counted, 0 for their mean; where nobody
            said which, those without gaps are compared if there are some.
        without: Systems that are left out.
        unpaired: Whether each system has segments of its own.
        columns: What columns of numbers are in a table that does not say it, one of COLUMNS.

    Raises:
        RecipeError: No such way with missing segments, no such columns.
    """

    missing: str = "error"
    testset: str | None = None
    runs: bool = False
    labels: bool = False
    wanted: Mapping[str, int] | None = None
    without: tuple[str, ...] = ()
    columns: str | None = None
    unpaired: bool = False

    def __post_init__(self) -> None:
        choose(self.missing, WAYS, "missing", "way with missing segments")
        if self.columns is not None:
            choose(self.columns, COLUMNS, "columns", "content of columns")


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
    combined = combine(materials, how)
    for name in how.without:
        if _left_out(name) not in combined.notes:
            choose(name, combined.system_names, "without", "system")
    joined = _of_interest(_with_counts(combined, how.wanted or {}), how)
    if how.missing == "error":
        joined.require_complete()
    else:
        joined = _without_gaps(joined)
    notes = (*joined.notes, *sentences(joined.crossed), *doubts(joined.scores, joined.system_names))
    return replace(joined, notes=tuple(dict.fromkeys(notes)))


def combine(materials: Sequence[Material], how: Joining = STRICT) -> Material:
    """Put together what several files bring; scores may still be missing where files say so.

    Raises:
        InputError: See `join`.
        LengthError: See `join`.
    """
    about = [part.of_testset(how.testset) for part in _of_testset(materials, how.testset)]
    parts = [_with_entries(part, how.without) for part in about]
    if not parts:
        return Material()
    _require_one_testset(parts)
    if how.unpaired:
        return _apart(parts)
    notes = [note for part in parts for note in part.notes]
    merged = parts[0]
    if len(parts) > 1:
        parts = _aligned(parts, how.missing, notes)
        _require_same_items(parts)
        merged = _merged(parts, how.runs)
    return replace(merged, notes=(*notes, *_repeated(parts)))


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
    out = [name for name in part.system_names if name in without]
    return replace(
        part,
        systems=tuple(own for own in part.systems if own[0] not in out),
        scores=tuple(own for own in scores if own.system not in out),
        notes=(*part.notes, *map(_left_out, out)),
    )


def _left_out(name: str) -> str:
    return f"{name!r} is left out."


def _with_counts(joined: Material, wanted: Mapping[str, int]) -> Material:
    """With how many runs of a segment passed, and how many there are, where these are asked for.

    Raises:
        InputError: Scores that are not 0 or 1, or too few runs; the message names the segments.
    """
    tables = []
    for own in joined.scores:
        least = wanted.get(own.label.casefold(), wanted.get("", 0))
        if least and not any(isinstance(v, tuple) for run in own.runs for v in run):
            rows = [[v for v in row if v is not None] for row in zip(*own.runs, strict=True)]
            wrong = [
                i for i, row in enumerate(rows) if len(row) < least or not {*row} <= {0.0, 1.0}
            ]
            if wrong:
                raise InputError(
                    f"{joined.name}: pass@k and pass^k need {least} runs of every segment, each 1 "
                    f"(passed) or 0; {own.label!r} of system {own.system!r} has others for "
                    f"{len(wrong):,} of {len(rows):,} ({examples(map(joined.segment, wrong))}).",
                    system=own.system,
                )
            counts = tuple((float(sum(row)), float(len(row))) for row in rows)
            own = replace(own, runs=(counts,))
        tables.append(own)
    return replace(joined, scores=tuple(tables))


def _of_interest(joined: Material, how: Joining) -> Material:
    """Without scores that have gaps and that nobody asked for, unless a system has nothing else."""
    out = {own.label: len(own.missing) for own in joined.scores if own.missing}
    if how.wanted is not None:
        out = {k: n for k, n in out.items() if not {*how.wanted} & {"", k.casefold()}}
    elif how.missing != "error":
        out = {}
    rest = replace(joined, scores=tuple(own for own in joined.scores if own.label not in out))
    if not out or {*rest.system_names} != {*joined.system_names}:
        return joined
    listed = examples((f"{label!r} (none for {n:,})" for label, n in out.items()), LISTED)
    note = f"Scores that segments lack are not compared: {listed}."
    return rest if how.wanted is not None else replace(rest, notes=(*joined.notes, note))


def _require_one_testset(parts: Sequence[Material]) -> None:
    """Check that all are about one test set, or about the same items by their keys."""
    parts_of_sets = [part for part in parts if part.testsets is not None]
    names = list(dict.fromkeys(name for part in parts_of_sets for name in part.testsets or ()))
    if len(names) < 2:
        return
    known: dict[str, str] = {}
    same = all(
        len({*(part.testsets or ())}) < 2
        and part.keys is not None
        and all(
            known.setdefault(i, k) == k for i, k in zip(part.ids or (), part.keys, strict=False)
        )
        for part in parts_of_sets
    )
    if not same:
        raise InputError(
            f"{f'{parts[0].name} has' if len(parts) == 1 else 'The files have'} {len(names)} test "
            f"sets ({examples(map(repr, names), 8)}); {WHICH}",
            field="select",
        )


def _apart(parts: Sequence[Material]) -> Material:
    """The scores of all, each system's of its own segments alone.

    Raises:
        InputError: A segment has scores of two systems, or a document.
    """
    for part in parts:
        if part.documents is not None:
            raise InputError(f"{part.name} has documents. {ALONE}")
    owners: dict[object, str] = {}
    tables: list[SystemScores] = []
    for part in parts:
        for own in part.scores:
            rows = [i for i, run in enumerate(zip(*own.runs, strict=True)) if {*run} != {None}]
            for i in rows:
                other = owners.setdefault(part.ids[i] if part.ids else (part.name, i), own.system)
                if other != own.system:
                    raise InputError(
                        f"{part.name}: {part.segment(i)} has scores of {other!r} and of "
                        f"{own.system!r}; unpaired compares systems with segments of their own."
                    )
            tables += replace(part, scores=(own,)).rows(rows).scores
    notes = tuple(note for part in parts for note in part.notes)
    return Material(scores=tuple(tables), unpaired=True, name=parts[0].name, notes=notes)


def _aligned(parts: Sequence[Material], missing: str, notes: list[str]) -> list[Material]:
    """All with the same segments in the same order."""
    if all(part.ids is None for part in parts):
        require_equal(parts)
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
    return aligned


def _with_ids(parts: Sequence[Material]) -> list[Material]:
    """Lines without ids get those of files that have them, where that is no guess."""
    plain = [part for part in parts if part.ids is None]
    if not plain:
        return list(parts)
    size, named = len(plain[0]), [part for part in parts if part.ids is not None]
    require_equal(plain)
    numbered = {id(part): _numbered(part, size) for part in named}
    counted = None not in numbered.values()
    guide = next((part for part in named if part.ordered and len(part) == size), None)
    if not counted and guide is None:
        part = next(part for part in named if numbered[id(part)] is None)
        raise InputError(
            f"{plain[0].name} has {size:,} lines without ids and {part.name} {len(part):,} "
            f"segments with ids such as {examples(map(repr, part.ids or ()), 2)}; lines join only "
            "with ids that count them, or with a file in the order of the test set and as long. "
            "Give texts with ids (a table, SGML or XML), or scores one line a segment."
        )
    places = tuple(str(i + 1) for i in range(size))
    ids = places if counted or guide is None else guide.ids
    return [
        replace(part, ids=(numbered[id(part)] if counted else part.ids) if part.ids else ids)
        for part in parts
    ]


def require_equal(parts: Sequence[Material]) -> None:
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
    first, last = min(numbers), max(numbers)
    fitting = (first == 0 and last < size) or (first >= 1 and last == size)
    if not fitting or len(set(numbers)) < len(numbers):
        return None
    return tuple(str(number + (first == 0)) for number in numbers)


def _mismatch(parts: Sequence[Material], everywhere: set[str]) -> str:
    """What one side has and another has not, with examples and what may be behind it."""
    part = next(own for own in parts if not everywhere.issuperset(own.ids or ()))
    known = dict.fromkeys(part.ids or ())
    other = next(own for own in parts if not {*known}.issubset(own.ids or ()))
    has = {*(other.ids or ())}
    lacking = [i for i in known if i not in has]
    hint = _hint(lacking, [i for i in other.ids or () if i not in known])
    if everywhere and not hint:
        hint = (
            f' {len(everywhere):,} segments are in all files: missing "drop" '
            "(--missing drop in the shell) compares on those."
        )
    elif not everywhere and all(own.scores for own in parts):
        hint += " Scores of items of their own are compared unpaired (--unpaired)."
    return (
        f"{other.name} has none for {len(lacking):,} of the {len(part):,} segments of "
        f"{part.name} ({examples(map(repr, lacking))}).{hint}"
    )


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


WRITTEN: Mapping[str, Callable[[str], str]] = {  # how ids of one file may differ from another's
    "by leading zeros": lambda i: DIGITS.sub(lambda d: d[0].lstrip("0") or "0", i),
    "by .0 at the end": lambda i: i.removesuffix(".0"),
    "in capital letters": str.lower,
    "by how accents are encoded (NFC or NFD)": lambda i: normalize("NFC", i),
    "by blanks and marks": lambda i: re.sub(r"[\W_]+", "", i),
    "by what stands before the number": lambda i: (DIGITS.findall(i) or [i])[-1],
    "by folders or suffixes": lambda i: i.rpartition("/")[2].partition(".")[0],
}


def _hint(here: Sequence[str], there: Sequence[str]) -> str:
    """What turns ids of one file into those of another, if it is something simple."""
    if len(here) == len(there) == 1 and in_digits(here[0]) and in_digits(there[0]):
        return f" The other has {there[0]!r} instead: does one count from 0 and the other from 1?"
    for what, way in WRITTEN.items():
        same = {*map(way, here)} & {*map(way, there)}
        if len(same) == min(len(set(here)), len(set(there))) and same:
            return f" Ids seem to differ only {what} ({here[0]!r}, {there[0]!r}); make them equal."
    return ""


def _repeated(parts: Sequence[Material]) -> list[str]:
    """What to say of files of references alone whose texts another file has already."""
    origin: dict[tuple[Line, ...], str] = {}
    notes = []
    for part in parts:
        for lines in part.references:
            if lines in origin and not part.systems and not part.scores:
                notes.append(
                    f"The references of {part.name} are the same texts as those of "
                    f"{origin[lines]}; they count once."
                )
            origin.setdefault(lines, part.name)
    return notes


def _require_same_items(parts: Sequence[Material]) -> None:
    """Check that one id means one item: equal documents and domains, keys, sources."""
    compared: dict[str, list[tuple[Material, Sequence[Line]]]] = {
        "document": [(p, p.documents) for p in parts if p.documents is not None],
        "domain": [(p, p.labels) for p in parts if p.labels is not None],
    }
    if parts[0].ids is not None:
        compared["item"] = [(p, p.keys) for p in parts if p.keys is not None]
        compared["source"] = [(p, p.sources) for p in parts if p.sources is not None]
        # of files that have one reference beside outputs or scores, rather than being one
        beside = [p for p in parts if len(p.references) == 1 and (p.systems or p.scores)]
        compared["reference"] = [(p, p.references[0]) for p in beside]
    for what, columns in compared.items():
        for part, column in columns[1:]:
            first, known = columns[0]
            for i, (a, b) in enumerate(zip(known, column, strict=True)):
                if a is None or b is None or a.split() == b.split():
                    continue
                if what == "item" and (a.startswith(b) or b.startswith(a)):  # one has no hash
                    continue
                names = {name for p in (first, part) for name in p.testsets or ()}
                sets = f" ({examples(map(repr, sorted(names)))})" if len(names) > 1 else ""
                differ = (k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
                start = max(0, next(differ, 0) - 20)  # with some of what is the same
                raise InputError(
                    f"{first.name} and {part.name} have another {what} under {part.segment(i)}, "
                    f"{quoted(a[start:])} and {quoted(b[start:])}; they are not about the same "
                    f"test set{sets}."
                )


def _merged(parts: Sequence[Material], runs: bool) -> Material:
    """All columns side by side."""
    outputs: dict[str, tuple[tuple[Line, ...], ...]] = {}
    scores: dict[tuple[str, str], SystemScores] = {}
    origin: dict[object, str] = {}
    for part in parts:
        for name, texts in part.systems:
            if not runs and outputs.get(name, texts) != texts:
                raise InputError(
                    f"{origin[name]} and {part.name} both have an output of {name!r}, and they "
                    "differ. Give each its own name: in the file, or in the shell by NAME=FILE. "
                    "Runs of one system are told apart by a column run, or in the shell given by "
                    "--replicas NAME=FILE,FILE.",
                    system=name,
                )
            outputs[name] = (*outputs.get(name, ()), *texts) if runs else texts
            origin.setdefault(name, part.name)
        for table in part.scores:
            key = (table.system, table.label)
            if not runs and key in scores:
                raise InputError(
                    f"{origin[key]} and {part.name} both have {table.label!r} scores of "
                    f"{table.system!r}. Give one, or each its own name: in the file, in the shell "
                    "by --scores LABEL:NAME=FILE, in a form by the file's name LABEL:NAME.tsv. "
                    "Runs of one system are told apart by a column run.",
                    system=table.system,
                )
            earlier = scores[key].runs if key in scores else ()
            scores[key] = replace(table, runs=(*earlier, *table.runs))
            origin.setdefault(key, part.name)
    columns = ("documents", "labels", "sources", "keys", "testsets")
    first: dict[str, Any] = {
        column: next((own for part in parts if (own := getattr(part, column)) is not None), None)
        for column in columns
    }
    return Material(
        references=tuple(dict.fromkeys(lines for part in parts for lines in part.references)),
        systems=tuple(outputs.items()),
        texts=tuple(text for part in parts for text in part.texts),
        scores=tuple(scores.values()),
        ids=parts[0].ids,
        ordered=any(part.ordered for part in parts),
        tasks=any(part.tasks for part in parts),
        name=examples(dict.fromkeys(part.name for part in parts if part.name)),
        **first,
    )


def _without_gaps(joined: Material) -> Material:
    """Without segments for which some system has no output or score."""
    alike: defaultdict[frozenset[int], list[str]] = defaultdict(list)  # named once
    for gap in joined.gaps():
        alike[frozenset(gap.places)].append(gap.what)
    gone = frozenset[int]().union(*alike)
    if not gone:
        return joined
    rest = [i for i in range(len(joined)) if i not in gone]
    if not rest:
        raise InputError(
            f"{joined.name}: no segment has an entry of every system; leave some systems or scores "
            "out."
        )
    listed = [
        f"{examples(who)} for {len(own):,} ({examples(joined.segment(i) for i in sorted(own))})"
        for own, who in alike.items()
        if own
    ]
    more = ["and others"] if len(listed) > LISTED else []
    note = (
        f"{len(gone):,} of {len(joined):,} segments are dropped for all systems because something "
        f"is missing: {'; '.join([*listed[:LISTED], *more])}; {len(rest):,} are compared."
    )
    return replace(joined.rows(rest), notes=(*joined.notes, note))


UNEQUAL_SCALES = 50.0  # how many times the mean of one system may be that of another
STAND_INS = (-1.0, -99.0, -999.0, -9999.0, -99999.0)  # what programs write for no score
FEWEST = 2  # other scores that show what a score is


def doubts(tables: Sequence[SystemScores], systems: Sequence[str]) -> list[str]:
    """Sentences about scores that may not be what they seem.

    Args:
        tables: All scores of all systems.
        systems: Names of all systems.
    """
    by_label: defaultdict[str, list[SystemScores]] = defaultdict(list)
    for table in tables:
        by_label[table.label].append(table)
    sentences = [
        sentence
        for label, alike in by_label.items()
        for sentence in [*_stand_ins(alike)] or _unequal_scales(label, alike)
    ]
    lacking = [
        f"{label!r} (not of {name!r})"
        for label, alike in by_label.items()
        for name in [n for n in systems if n not in {table.system for table in alike}][:1]
    ]
    if lacking:
        listed = examples(lacking, LISTED)
        sentences.append(f"Scores that not all systems have are not compared: {listed}.")
    return sentences


def _unequal_scales(label: str, tables: Sequence[SystemScores]) -> Iterator[str]:
    """Whether scores are fractions in one system and percent in another."""
    means: list[tuple[float, str]] = []
    for table in tables:
        sizes = [abs(v) for v in table.values if isinstance(v, float | int)]
        if sizes and max(sizes) > 0:
            means.append((sum(sizes) / len(sizes), table.system))
    (low, one), (high, other) = (
        pick(means, key=lambda mean: mean[0], default=(1.0, "")) for pick in (min, max)
    )
    if low <= 1 < high and high > UNEQUAL_SCALES * low:
        yield (
            f"{label}: scores of {one!r} are about {low:.3g} and those of {other!r} "
            f"about {high:.3g}; one may be a fraction and the other percent."
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
