"""What an import brings: texts and scores of a comparison, with nothing said about how to compare.

An `Assembly` makes a `Material` of entries in any order. Everything in a `Material` is aligned:
entry i of every list is about the same segment, which `ids` names where the format does. What the
format says is missing is `None`, never 0 and never "".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from sigtest.cached import cached_property
from sigtest.data.names import MEANS, check_name, look_alikes
from sigtest.data.runs import Crossed, crossed
from sigtest.data.testset import inferred_metrics
from sigtest.data.text import MOST_DIGITS
from sigtest.errors import InputError
from sigtest.files.file import require_filled

Line = str | None
Value = float | tuple[float, ...]  # a number, or a tuple of numbers of a user-supplied metric
EXAMPLES = 3  # examples in a message
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
        count, rows = len(self.runs), zip(*self.runs, strict=True)
        known = ([v for v in row if isinstance(v, float | int)] for row in rows)
        return tuple([sum(own) / count if len(own) == count else None for own in known])

    @property
    def missing(self) -> tuple[int, ...]:
        """Places without a score in some run."""
        return tuple(i for i, value in enumerate(self.values) if value is None)


class Gap(NamedTuple):
    """Segments of which a system lacks an output, or a score.

    Attributes:
        system: Its name.
        what: What it has not, in words.
        places: Of the segments.
        instead: What would be right.
    """

    system: str
    what: str
    places: Sequence[int]
    instead: str


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
        unpaired: Whether each system's scores are of segments of its own.
        testsets: Test set (language pair, task) of each segment, where known.
        format: What its file is, where it was read of one.
        tasks: Whether each segment is a test set of its own, as rows of a board are.
        name: What messages call it.
        notes: Sentences about what was read in a way that could surprise, for the report.
        files: What messages call the files of each system, where several were put together.
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
    unpaired: bool = False
    unread: tuple[str, ...] = field(default=(), compare=False)
    format: str = field(default="", compare=False)
    tasks: bool = field(default=False, compare=False)
    name: str = field(default="", compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)

    def __len__(self) -> int:
        """Number of segments; of the first column where columns are unequal."""
        return len(self.columns[0]) if self.columns else 0

    @property
    def lines(self) -> list[Sequence[Line]]:
        """All that has a text or a name a segment, texts first."""
        columns: list[Sequence[Line]] = [*self.references, *self.texts]
        columns += [run for _, runs in self.systems for run in runs]
        return columns + [c for c in (self.sources, self.documents, self.labels) if c]

    @property
    def columns(self) -> list[Sequence[object]]:
        """All that has an entry a segment, texts first."""
        scores = [run for scores in self.scores for run in scores.runs]
        return [*self.lines, *scores, *([self.ids] if self.ids else [])]

    @property
    def system_names(self) -> tuple[str, ...]:
        """All systems, those with texts first."""
        names = (*(name for name, _ in self.systems), *(scores.system for scores in self.scores))
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

        def taken(column: Any) -> Any:
            return None if column is None else tuple([column[i] for i in order])

        names = ("documents", "labels", "sources", "ids", "keys", "testsets")
        return replace(
            self,
            references=tuple(map(taken, self.references)),
            systems=tuple((name, tuple(map(taken, runs))) for name, runs in self.systems),
            texts=tuple(map(taken, self.texts)),
            scores=tuple(replace(s, runs=tuple(map(taken, s.runs))) for s in self.scores),
            **{name: taken(getattr(self, name)) for name in names},
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

    def alone(self, **content: Any) -> Material:
        """What is known of the segments, with these texts or scores and no others."""
        nothing: dict[str, Any] = {"references": (), "systems": (), "texts": (), "scores": ()}
        return replace(self, **nothing | content)

    def as_references(self) -> tuple[tuple[Line, ...], ...]:
        """The reference sets of a file that was given as the reference, whatever it says it is.

        Raises:
            InputError: No text that could be meant, or several.
        """
        return self.references or self.texts or (self.only_text("a reference"),)

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

    def gaps(self) -> Iterator[Gap]:
        """What each system lacks of its output, and of each of its scores."""
        for name, runs in self.systems:
            lacking = [i for i, lines in enumerate(zip(*runs, strict=True)) if None in lines]
            instead = 'write "" for an empty output'
            yield Gap(name, f"system {name!r} has no hypothesis", lacking, instead)
        for own in self.scores:
            what = f"system {own.system!r} has no {own.label!r} score"
            yield Gap(own.system, what, own.missing, "leave these scores out")

    def require_complete(self) -> None:
        """Check that nothing is missing of what has one entry a segment.

        Raises:
            InputError: Something is missing; the message counts it and shows examples.
        """
        gaps, size = [*self.gaps()] if not self.unpaired else [], len(self)
        lost = {i for gap in gaps for i in gap.places}
        if lost and len(lost) == size > max(len(gap.places) for gap in gaps):
            lone = [min({*range(size)} - {*gap.places}) for gap in gaps]
            raise InputError(
                f"{self.name}: no segment has an entry of every system and metric; ids "
                f"({examples(map(self.segment, dict.fromkeys(lone)))}) must be the same in all; "
                f"scores of items of their own are compared unpaired (--unpaired).{self._alike()}"
            )
        for gap in gaps:
            if gap.places:
                raise InputError(
                    f"{self.name}: {gap.what} for {len(gap.places):,} of {size:,} segments "
                    f"({examples(map(self.segment, gap.places))}); {gap.instead}, or drop such "
                    'segments for all systems: missing "drop" (--missing drop in the shell).'
                    f"{self._alike()}",
                    system=gap.system,
                )

    def _alike(self) -> str:
        """Which names of systems or of scores may be meant for one."""
        alike = {**look_alikes(self.system_names), **look_alikes(self.score_labels)}
        return "".join(f" {words}" for words in alike.values())

    @property
    def usual(self) -> dict[str, Any]:
        """What a comparison takes where nothing is said: tests over data sets, where rows are."""
        return {"tests": [*OVER_DATA_SETS]} if self.tasks else {}

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


OVER_DATA_SETS = ("sign_test", "signed_rank", "paired_t")


def examples(names: Iterable[str], shown: int = EXAMPLES) -> str:
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


SUMMARIES = MEANS | {"all", "min", "max", "count", "macro", "micro", "corpus", "system"}
SUMMARIZING = 3  # rows below a table at most, such as mean, deviation and count
COUNTED = ("testset", "document", "domain")  # in each of which ids may count anew
ONLY_RUN = ""  # where entries name none
Key = TypeVar("Key", bound=tuple[str, ...])
Group = tuple[str, str, str]  # system, label, run


class Assembly:
    """Collects what a file says about segments.

    Segments are known by their ids, or, where a file has none, by their order within each system,
    metric and run.

    Args:
        name: Of the file, for messages.

    Attributes:
        metrics: The metric that makes a score of the numbers under a label.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._places: dict[str, int] = {}
        self._scores: dict[Group, dict[int, Value | None]] = {}
        self._hypotheses: dict[tuple[str, str], dict[int, str | None]] = {}
        self._columns: dict[str, dict[int, str]] = {}
        self._directions: dict[str, bool] = {}
        self.metrics: defaultdict[str, str] = defaultdict(lambda: "scores")

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

    def describe(self, i: int, columns: Mapping[str, str | None], place: str) -> None:
        """Add what is known of a segment whatever the system: its source, document, ...

        Raises:
            InputError: Something else is known already.
        """
        for column, value in columns.items():
            known = self._columns.setdefault(column, {}) if value is not None else {}
            if value is not None and known.setdefault(i, value) != value:
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
        summaries = [
            name
            for name in names  # no summary has a longer name
            if (words := re.findall(r"\w+", name[:40].lower())) and SUMMARIES.issuperset(words)
        ]
        if summaries and len(summaries) < len(names):
            raise InputError(
                f"{self.name}: {examples(map(repr, summaries))} stands among the ids of "
                f"{len(names) - len(summaries):,} segments as the id of a summary; take such rows "
                "out."
            )
        groups: list[Mapping[int, object]] = [*self._scores.values(), *self._hypotheses.values()]
        groups += self._columns.values()
        require_filled(count, len(groups), sum(map(len, groups)), self.name)

        def laid_out(entries: Mapping[int, Any]) -> tuple[Any, ...]:
            return tuple([entries.get(i) for i in range(count)])

        columns = {name: laid_out(known) for name, known in self._columns.items()}
        partial = [n for n in ("document", "domain", "testset") if None in columns.get(n, ())]
        gaps = (f"{self.name}: not every segment has a {n}; they are left out." for n in partial)
        whole = {name: column for name, column in columns.items() if None not in column}
        outputs: defaultdict[str, list[tuple[Line, ...]]] = defaultdict(list)
        for system, run in _by_run(self._hypotheses):
            outputs[system].append(laid_out(self._hypotheses[system, run]))
        runs: defaultdict[tuple[str, str], list[tuple[Value | None, ...]]] = defaultdict(list)
        for system, label, run in _by_run(self._scores):
            runs[system, label].append(laid_out(self._scores[system, label, run]))
        return Material(
            references=tuple(c for name, c in columns.items() if name.startswith("reference")),
            systems=tuple((system, tuple(texts)) for system, texts in outputs.items()),
            documents=whole.get("document"),
            labels=whole.get("domain"),
            sources=columns.get("source"),
            scores=tuple(
                SystemScores(*key, tuple(own), self._directions.get(key[1]), self.metrics[key[1]])
                for key, own in runs.items()
            ),
            ids=tuple(names) if names else None,
            ordered=ordered,
            keys=whole.get("key"),
            testsets=whole.get("testset"),
            name=self.name,
            notes=(*notes, *self._odd_ids(names), *gaps),
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


def _by_run(groups: Collection[Key]) -> list[Key]:
    """Groups with the runs of each system in order: by number where they are numbers."""
    first = {key[:-1]: i for i, key in reversed([*enumerate(groups)])}

    def order(key: Key) -> tuple[int, float, str]:
        run = key[-1]
        return first[key[:-1]], float(run) if run.isdecimal() else -1.0, run

    return sorted(groups, key=order)
