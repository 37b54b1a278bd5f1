"""What an import brings: texts and scores of a comparison, with nothing said about how to compare.

Everything in a `Material` is aligned: entry i of every list is about the same segment, which `ids`
names where the format does. What the format says is missing is `None`, never 0 and never "".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

from sigtest.cached import cached_property
from sigtest.data.inferred import inferred_metrics
from sigtest.data.names import look_alikes
from sigtest.data.runs import Crossed, crossed
from sigtest.errors import InputError, LengthError

Line = str | None
Value = float | tuple[float, ...]  # a number, or a tuple of numbers of a user-supplied metric
Cell = TypeVar("Cell")
SHOWN = 3  # examples in a message
WHICH = "say which one to compare on with select (--testset in the shell)."
AS_WHAT = (  # plain text is to be given
    "as the reference (in the shell -r FILE, in a form the part references) or as a system (FILE "
    "or NAME=FILE, the part systems)"
)
COLUMNS = {"a reference": "reference", "an output": "hypothesis", "a source": "source"}


@dataclass(frozen=True)
class SystemScores:
    """Scores of one system by one metric.

    Attributes:
        system: Whose.
        label: The metric's name.
        runs: (n,) entries for each run or sample of the system; `None` is a missing score.
        higher_is_better: Where the format says so.
        metric: Name of the metric that makes a score of them.
    """

    system: str
    label: str
    runs: tuple[tuple[Value | None, ...], ...]
    higher_is_better: bool | None = None
    metric: str = "scores"

    @cached_property
    def values(self) -> tuple[Value | None, ...]:
        """(n,) scores: the mean of all runs, missing where it is missing in one of them.

        Raises:
            InputError: Several runs of which each has several numbers a segment.
        """
        if len(self.runs) == 1:
            return self.runs[0]
        if any(isinstance(value, tuple) for run in self.runs for value in run):
            raise InputError(
                f"System {self.system!r} brings {len(self.runs)} runs of {self.label!r}, which has "
                "several numbers a segment, and these have no mean over runs; give one run of each "
                "system.",
                system=self.system,
            )
        known = [
            [v for v in own if isinstance(v, float | int)] for own in zip(*self.runs, strict=True)
        ]
        count = len(self.runs)
        return tuple(sum(own) / count if len(own) == count else None for own in known)

    @property
    def missing(self) -> tuple[int, ...]:
        """Places without a score in some run."""
        return tuple(i for i, value in enumerate(self.values) if value is None)


@dataclass(frozen=True)
class Material:
    """What belongs together. It is checked when a comparison is made of it.

    Attributes:
        references: Reference sets; `None` is a missing line.
        systems: Name and outputs of each system: its hypotheses, or those of several training
            runs.
        documents: Document of each segment, where known.
        labels: Label (domain) of each segment, where known.
        sources: Source of each segment, where known.
        texts: Columns of text whose role the format does not say: plain lines.
        unread: Names of columns of a table that may be texts and are not read.
        scores: Scores of systems by metrics.
        ids: What identifies each segment; where there is nothing, its place does.
        ordered: Whether the order of segments is that of the test set, so that lines without ids
            may be joined by their place.
        keys: What tells whether two segments of one id are the same (a hash of the item).
        testsets: Test set (language pair, task) of each segment, where known.
        name: What messages call it.
        notes: Sentences about what was read in a way that could surprise, for the report.
    """

    references: tuple[tuple[Line, ...], ...] = ()
    systems: tuple[tuple[str, tuple[tuple[Line, ...], ...]], ...] = ()
    documents: tuple[str, ...] | None = None
    labels: tuple[str, ...] | None = None
    sources: tuple[Line, ...] | None = None
    texts: tuple[tuple[str, ...], ...] = ()
    scores: tuple[SystemScores, ...] = ()
    ids: tuple[str, ...] | None = None
    ordered: bool = True
    keys: tuple[str, ...] | None = None
    testsets: tuple[str, ...] | None = None
    unread: tuple[str, ...] = field(default=(), compare=False)
    name: str = field(default="", compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __len__(self) -> int:
        """Number of segments; of the first column where columns are unequal."""
        return len(self.columns[0]) if self.columns else 0

    @property
    def columns(self) -> list[Sequence[object]]:
        """All that has an entry a segment, texts first."""
        columns: list[Sequence[object]] = [*self.references, *self.texts]
        columns += [run for _, runs in self.systems for run in runs]
        columns += [run for scores in self.scores for run in scores.runs]
        columns += [c for c in (self.ids, self.sources, self.documents, self.labels) if c]
        return columns

    @property
    def system_names(self) -> tuple[str, ...]:
        """All systems, those with texts first."""
        names = [name for name, _ in self.systems] + [scores.system for scores in self.scores]
        return tuple(dict.fromkeys(names))

    @property
    def score_labels(self) -> tuple[str, ...]:
        """All metrics that some system has scores of."""
        return tuple(dict.fromkeys(scores.label for scores in self.scores))

    @property
    def crossed(self) -> tuple[Crossed, ...]:
        """What is known of the runs of systems that have several."""
        known = [crossed(table.system, table.label, table.runs) for table in self.scores]
        return tuple(own for own in known if own is not None)

    def segment(self, i: int) -> str:
        """What messages call a segment."""
        return f"{self.ids[i]!a}" if self.ids is not None else f"segment {i + 1}"

    def rows(self, order: Sequence[int]) -> Material:
        """The segments at these places, in this order."""

        def taken(column: Sequence[Cell]) -> tuple[Cell, ...]:
            return tuple(column[i] for i in order)

        def kept(column: Sequence[Cell] | None) -> tuple[Cell, ...] | None:
            return None if column is None else taken(column)

        return replace(
            self,
            references=tuple(map(taken, self.references)),
            systems=tuple((name, tuple(map(taken, runs))) for name, runs in self.systems),
            documents=kept(self.documents),
            labels=kept(self.labels),
            sources=kept(self.sources),
            texts=tuple(map(taken, self.texts)),
            scores=tuple(replace(s, runs=tuple(map(taken, s.runs))) for s in self.scores),
            ids=kept(self.ids),
            keys=kept(self.keys),
            testsets=kept(self.testsets),
        )

    def of_testset(self, testset: str | None) -> Material:
        """The segments of one test set; all where none is named, or nothing says whose they are.

        Raises:
            InputError: It has none of that name; the message lists those that it has.
        """
        if testset is None or self.testsets is None:
            return self
        known = list(dict.fromkeys(self.testsets))
        if testset not in known:
            raise InputError(
                f"{self.name or 'The import'} has no test set {testset[:80]!r}; it has "
                f"{', '.join(map(repr, known[:40])) or 'none'}."
            )
        return self.rows([i for i, name in enumerate(self.testsets) if name == testset])

    def named(self, system: str | None = None, label: str | None = None) -> Material:
        """The scores and texts of one system under names that win over those inside.

        Args:
            system: Its name. If one inside is called so, that one is meant.
            label: The name of its scores, in the same way.

        Raises:
            InputError: Several inside, none of them called so; the message lists them.
        """
        inner = _one(system, self.system_names, "system", self.name)
        label_inside = _one(label, self.score_labels, "metric", self.name)
        return replace(
            self,
            systems=tuple(
                (system or name, runs) for name, runs in self.systems if inner in {None, name}
            ),
            scores=tuple(
                replace(s, system=system or s.system, label=label or s.label)
                for s in self.scores
                if inner in {None, s.system} and label_inside in {None, s.label}
            ),
        )

    def as_references(self) -> tuple[tuple[Line, ...], ...]:
        """The reference sets of a file that was given as the reference, whatever it says it is.

        Raises:
            InputError: No text that could be meant, or several.
        """
        if self.references or self.texts:
            return self.references or self.texts
        return (self.only_text("a reference"),)

    def as_source(self) -> tuple[Line, ...]:
        """The source text of a file that was given as the source.

        Raises:
            InputError: No text that could be meant, or several.
        """
        return self.sources if self.sources is not None else self.only_text("a source")

    def as_systems(self, name: str) -> Material:
        """The same with plain lines, or a lone reference set, as the output of a system.

        Args:
            name: What to call it; several columns are `name 1`, `name 2`, ...

        Raises:
            InputError: No text that could be meant, or several.
        """
        if self.systems or (self.scores and not self.texts):
            return self
        columns: Sequence[tuple[Line, ...]] = self.texts or (self.only_text("an output"),)
        names = [name] if len(columns) == 1 else [f"{name} {i + 1}" for i in range(len(columns))]
        systems = tuple((n, (c,)) for n, c in zip(names, columns, strict=True))
        return replace(self, references=(), texts=(), systems=systems)

    def only_text(self, role: str) -> tuple[Line, ...]:
        """The one text that it brings, whatever it says that is.

        Args:
            role: What messages call it.

        Raises:
            InputError: None, several, the source for a reference, or a column that is not read and
                may be meant.
        """
        if self.unread and not self.systems:
            raise InputError(
                f"{self.name} has no column {COLUMNS[role]!r}, and nothing is read from "
                f"{', '.join(map(repr, self.unread[:8]))}; name the one that holds "
                f"{role} {COLUMNS[role]!r}.",
                field=self.name,
            )
        texts = [*self.texts, *(run for _, runs in self.systems for run in runs)]
        texts = texts or [*self.references]
        if not texts and self.sources is not None:
            if role == "a reference":
                raise InputError(
                    f"{self.name} has the source and no reference; give a file of references.",
                    field=self.name,
                )
            texts = [self.sources]
        if len(texts) == 1:
            return texts[0]
        has = f"{len(texts)} texts ({', '.join(self.system_names[:5])})" if texts else "no text"
        raise InputError(f"{self.name} has {has}; {role} is one text.", field=self.name)

    def of_known_role(self) -> Material:
        """The same, where there is no text of which nothing says what it is.

        Raises:
            InputError: There is.
        """
        if self.texts:
            raise InputError(
                f"{self.name} is plain text, which does not say what it is; give it {AS_WHAT}.",
                field=self.name,
            )
        return self

    def require_complete(self) -> None:
        """Check that everything has one entry a segment and that none is missing.

        Raises:
            InputError: Something is missing; the message counts it and shows examples.
            LengthError: Columns of unequal lengths.
        """
        self._require_shared()
        for name, runs in self.systems:
            for lines in runs:
                what = f"system {name!r} has no hypothesis for"
                self._require_all(lines, what, 'write "" for an empty output', name)
        for scores in self.scores:
            what = f"system {scores.system!r} has no {scores.label!r} score for"
            self._require_all(scores.values, what, "leave these scores out", scores.system)

    def _require_shared(self) -> None:
        """Check that some segment has an entry of every system, where each has some entries."""
        columns: list[Sequence[object]] = [run for _, runs in self.systems for run in runs]
        columns += [scores.values for scores in self.scores]
        each = all(any(entry is not None for entry in column) for column in columns)
        equal = len({len(column) for column in columns}) == 1
        if each and equal and all(None in entries for entries in zip(*columns, strict=True)):
            lone = [next(i for i, e in enumerate(own) if e is not None) for own in columns]
            raise InputError(
                f"{self.name}: no segment has an entry of every system and metric; ids "
                f"({examples(map(self.segment, dict.fromkeys(lone)))}) must be the same in all."
                f"{self._alike()}"
            )

    def _require_all(self, column: Sequence[object], what: str, instead: str, system: str) -> None:
        if len(column) != len(self):
            raise LengthError(
                f"{self.name}: system {system!r} has {len(column):,} "
                f"line{'' if len(column) == 1 else 's'}, others have {len(self):,}; every system "
                "needs one a segment.",
                system=system,
            )
        missing = [i for i, entry in enumerate(column) if entry is None]
        if missing:
            raise InputError(
                f"{self.name}: {what} {len(missing):,} of {len(column):,} segments "
                f"({examples(self.segment(i) for i in missing)}); {instead}, or drop such segments "
                f'for all systems: missing "drop" (--missing drop in the shell).{self._alike()}',
                system=system,
            )

    def _alike(self) -> str:
        """Which names of systems or of scores may be meant for one."""
        found = (*look_alikes(self.system_names), *look_alikes(self.score_labels))
        return "".join(f" {told}" for told in found)

    def as_json(self) -> dict[str, Any]:
        """The same fields of a JSON request, which `parse_comparison` understands.

        Scores of several runs are their means; `runs` says how these vary.

        Raises:
            InputError: Something is missing, or plain text that says nothing of its role.
        """
        self.of_known_role()
        self.require_complete()
        systems: dict[str, dict[str, Any]] = {name: {"name": name} for name in self.system_names}
        for name, runs in self.systems:
            texts = [list(lines) for lines in runs]
            one = len(texts) == 1
            systems[name]["hypotheses" if one else "replicas"] = texts[0] if one else texts
        for table in self.scores:
            values = [list(v) if isinstance(v, tuple) else v for v in table.values]
            systems[table.system].setdefault("scores", {})[table.label] = values
        body: dict[str, Any] = {
            "references": [list(lines) for lines in self.references],
            "systems": [*systems.values()],
        }
        for name, lines in (
            ("documents", self.documents), ("labels", self.labels), ("source", self.sources),
            ("notes", self.notes or None),
            ("runs", [asdict(own) for own in self.crossed] or None),
        ):  # fmt: skip
            if lines is not None:
                body[name] = list(lines)
        return body


def examples(names: Iterable[str], shown: int = SHOWN) -> str:
    """The first few names, and how many more there are."""
    listed = list(names)
    more = f" and {len(listed) - shown:,} more" if len(listed) > shown else ""
    return ", ".join(name[:80] for name in listed[:shown]) + more


def _one(name: str | None, inside: Sequence[str], what: str, where: str) -> str | None:
    """Which one inside is meant by a name; nothing where all are."""
    if name is None or not inside:
        return None
    if name in inside or len(inside) == 1:
        return name if name in inside else inside[0]
    raise InputError(
        f"{where} has {len(inside)} {what}s ({', '.join(inside[:10])}), none of them {name!r}; "
        f"give the name of one, or leave the name out."
    )


def in_order(material: Material) -> Material:
    """Segments in the order of a test set whose lines are known by their place alone.

    Raises:
        InputError: They are in any order, with ids that do not count them.
    """
    if material.ordered or material.ids is None:
        return material
    numbers = {name: i for i, name in enumerate(material.ids) if name.isdecimal()}
    places = sorted(numbers, key=int)
    size = len(material)
    if [*map(int, places)] not in ([*range(size)], [*range(1, size + 1)]):
        raise InputError(
            f"{material.name} is a table whose rows are known by their ids "
            f"({examples(map(repr, material.ids))}), which do not count segments; give lines, or "
            "a column id that counts them from 1.",
            field=material.name,
        )
    return material.rows([numbers[name] for name in places])


def outputs_of(material: Material) -> dict[str, dict[str, Any]]:
    """What each system brings, by its name, as a request has it.

    Raises:
        InputError: Something is missing.
    """
    return {body.pop("name"): body for body in in_order(material).as_json()["systems"]}


def metrics_of(material: Material, referenced: bool = False) -> list[str | dict[str, object]]:
    """What to compare on where it is not said; see `inferred_metrics`.

    Args:
        material: All that is compared.
        referenced: Whether references are elsewhere.
    """
    brought: dict[str, list[str]] = {name: [] for name in material.system_names}
    for table in material.scores:
        brought[table.system].append(table.label)
    texts = bool(material.references or referenced) and len(material.systems) == len(brought)
    return inferred_metrics(brought, texts, metric_options(material))


def metric_options(material: Material) -> dict[str, dict[str, object]]:
    """What files say of the metrics that score their labels, beyond that it is a mean."""
    found: dict[str, dict[str, object]] = {}
    for table in material.scores:
        own = found.setdefault(
            table.label, {} if table.metric == "scores" else {"name": table.metric}
        )
        if table.higher_is_better is False:
            own["higher"] = False
    return found
