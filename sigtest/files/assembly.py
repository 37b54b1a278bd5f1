"""Entries that come in any order, put together by segment, system, metric and run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from sigtest.data.names import MEANS, check_name
from sigtest.data.numbers import MOST_DIGITS
from sigtest.errors import InputError
from sigtest.files.file import require_filled
from sigtest.files.material import Line, Material, SystemScores, Value, examples

SUMMARIES = MEANS | {"all", "min", "max", "count", "macro", "micro", "corpus", "system"}
SUMMARIZING = 3  # rows below a table at most, such as mean, deviation and count
COUNTED = ("testset", "document", "domain")  # in each of which ids may count anew
ONLY_RUN = ""  # where entries name none
Group = tuple[str, str, str]  # system, label, run
Key = TypeVar("Key", bound=tuple[str, ...])
Content = TypeVar("Content")


class Assembly:
    """Collects what a file says about segments.

    Segments are known by their ids, or, where a file has none, by their order within each system,
    metric and run.

    Args:
        name: Of the file, for messages.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._places: dict[str, int] = {}
        self._scores: dict[Group, dict[int, Value | None]] = {}
        self._hypotheses: dict[tuple[str, str], dict[int, str | None]] = {}
        self._columns: dict[str, dict[int, str]] = {}
        self._directions: dict[str, bool] = {}

    def place_of(self, segment: object, place: str) -> int:
        """Where a segment stands, by its id.

        Raises:
            InputError: No id, or a number that is too long for one.
        """
        if isinstance(segment, float) and segment.is_integer():
            segment = int(segment)
        name = "" if segment is None else str(segment).strip()
        if not name:
            raise InputError(f"{self.name}, {place}: no id; every row needs that of its segment.")
        if len(name) > MOST_DIGITS and name.isdecimal():
            raise InputError(
                f"{self.name}, {place}: an id of {len(name):,} digits; those that are numbers have "
                f"at most {MOST_DIGITS}."
            )
        return self._places.setdefault(name, len(self._places))

    def next_of(self, group: Group) -> int:
        """The next segment of a system's scores, where a file has no ids."""
        return len(self._scores.get(group, ()))

    def score(
        self, i: int, group: Group, value: Value | None, place: str, higher: bool | None = None
    ) -> None:
        """Add a score.

        Raises:
            InputError: There is one already, a name that cannot name a system or score, or another
                direction than before.
        """
        if group not in self._scores:
            self._check_names(group, place)
        table = self._scores.setdefault(group, {})
        if i in table:
            system, label, _ = group
            raise InputError(
                f"{self.name}, {place}: a second {label!r} score of system {system!r} for "
                f"{self._segment(i)}; take one out, or tell runs apart in a column run."
            )
        table[i] = value
        if higher is not None and self._directions.setdefault(group[1], higher) != higher:
            raise InputError(
                f"{self.name}, {place}: another direction (higher_is_better) of {group[1]!r} than "
                "above; leave one."
            )

    def hypothesis(self, i: int, system: str, run: str, text: str | None, place: str) -> None:
        """Add an output.

        Raises:
            InputError: Another one is there already, or a bad name.
        """
        if (system, run) not in self._hypotheses:
            self._check_names((system, "x", run), place)
        lines = self._hypotheses.setdefault((system, run), {})
        if i in lines and lines[i] != text:
            raise InputError(
                f"{self.name}, {place}: a second hypothesis of system {system!r} for "
                f"{self._segment(i)}; take one out, or tell runs apart in a column run."
            )
        lines[i] = text

    def about(self, i: int, column: str, value: str, place: str) -> None:
        """Add what is known of a segment whatever the system: its source, document, ...

        Raises:
            InputError: Something else has been said before.
        """
        known = self._columns.setdefault(column, {})
        if known.setdefault(i, value) != value:
            anew = f", or ids count anew in each {column} and have to be told apart"
            raise InputError(
                f"{self.name}, {place}: {self._segment(i)} has another {column} than above "
                f"({value[:40]!a} and {known[i][:40]!a}); one of its rows has the wrong id"
                f"{anew if column in COUNTED else ''}."
            )

    def material(self, notes: Sequence[str] = (), ordered: bool = True) -> Material:
        """All of it, aligned.

        Raises:
            InputError: Rows without ids that are not equally many, a summary among the segments,
                hardly any entry for so many systems and segments.
        """
        names = [*self._places]
        count = len(names) or self._count()
        summaries = [name for name in names if name.lower() in SUMMARIES]
        if summaries and len(summaries) < len(names):
            raise InputError(
                f"{self.name}: {examples(map(repr, summaries))} stands among the ids of "
                f"{len(names) - len(summaries):,} segments as the id of a summary; take such rows "
                "out."
            )
        sizes = [*map(len, self._scores.values()), *map(len, self._hypotheses.values())]
        sizes += map(len, self._columns.values())
        require_filled(count, len(sizes), sum(sizes), self.name)
        columns: dict[str, tuple[Line, ...]] = {
            name: tuple(known.get(i) for i in range(count)) for name, known in self._columns.items()
        }
        partial = [n for n in ("document", "domain", "testset") if None in columns.get(n, ())]
        notes = [
            *notes,
            *self._odd_ids(names),
            *(f"{self.name}: not every segment has a {n}; they are left out." for n in partial),
        ]
        references = [c for name, c in columns.items() if name.startswith("reference")]
        outputs: dict[str, list[tuple[Line, ...]]] = {}
        for (system, _), lines in _by_run(self._hypotheses):
            outputs.setdefault(system, []).append(tuple(lines.get(i) for i in range(count)))
        return Material(
            references=tuple(references),
            systems=tuple((system, tuple(texts)) for system, texts in outputs.items()),
            documents=_whole(columns.get("document")),
            labels=_whole(columns.get("domain")),
            sources=columns.get("source"),
            scores=self._tables(count),
            ids=tuple(names) if names else None,
            ordered=ordered,
            keys=_whole(columns.get("key")),
            testsets=_whole(columns.get("testset")),
            name=self.name,
            notes=tuple(notes),
        )

    def _segment(self, i: int) -> str:
        names = [*self._places]
        return f"segment {names[i][:80]!a}" if names else f"segment {i + 1}"

    def _check_names(self, group: Group, place: str) -> None:
        try:
            check_name(group[0])
            check_name(group[1], "score")
        except InputError as error:
            raise InputError(f"{self.name}, {place}: {error.message}") from None

    def _odd_ids(self, names: Sequence[str]) -> Iterator[str]:
        """Says which few ids are words where all others are numbers: a summary, in any language."""
        words = [name for name in names if not any(map(str.isdecimal, name))]
        numbers = sum(map(str.isdecimal, names))
        if 0 < len(words) <= SUMMARIZING < numbers == len(names) - len(words):
            yield (
                f"{self.name}: {examples(map(repr, words))} among ids that are numbers is read as "
                "a segment; if it is a mean or a sum of others, take its rows out."
            )

    def _count(self) -> int:
        """Segments where a file has no ids: equally many everywhere."""
        counts = {f"system {s!r}": len(lines) for (s, _), lines in self._hypotheses.items()}
        for (system, label, run), table in self._scores.items():
            of_run = f", run {run!r}" if run != ONLY_RUN else ""
            counts[f"system {system!r} ({label}{of_run})"] = len(table)
        counts |= {column: len(known) for column, known in self._columns.items()}
        first, *others = counts.items() if counts else [("", 0)]
        for what, count in others:
            if count != first[1]:
                raise InputError(
                    f"{self.name}: {what} has {count:,} row{'' if count == 1 else 's'} and "
                    f"{first[0]} {first[1]:,}, and no column id says which belong together; give "
                    "one."
                )
        return first[1]

    def _tables(self, count: int) -> tuple[SystemScores, ...]:
        runs: dict[tuple[str, str], list[tuple[Value | None, ...]]] = {}
        for (system, label, _), table in _by_run(self._scores):
            values = tuple(table.get(i) for i in range(count))
            runs.setdefault((system, label), []).append(values)
        return tuple(
            SystemScores(system, label, tuple(tables), self._directions.get(label))
            for (system, label), tables in runs.items()
        )


def _by_run(groups: Mapping[Key, Content]) -> list[tuple[Key, Content]]:
    """Groups with the runs of each system in order: by number where they are numbers."""
    first = {key[:-1]: i for i, key in reversed([*enumerate(groups)])}

    def order(item: tuple[Key, Content]) -> tuple[int, float, str]:
        run = item[0][-1]
        return first[item[0][:-1]], float(run) if run.isdecimal() else -1.0, run

    return sorted(groups.items(), key=order)


def _whole(column: tuple[Line, ...] | None) -> tuple[str, ...] | None:
    """A column, where it says something of every segment."""
    if column is None:
        return None
    known = tuple(entry for entry in column if entry is not None)
    return known if len(known) == len(column) else None
