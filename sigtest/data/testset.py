"""Test sets and systems: validated, aligned and identified by their content."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import Any

import numpy as np

from sigtest.arrays import Array
from sigtest.cached import cached_property
from sigtest.data.names import check_name
from sigtest.data.text import Text, check_lines, check_list, whole
from sigtest.errors import InputError, LengthError, quoted

LARGEST = 1e50  # of supplied numbers; one over it is the smallest

NUMBERS = (int, float, np.number)

LABEL = "scores"  # of numbers that were given no other
MetricOptions = Mapping[str, Mapping[str, object]]
NOTHING: MetricOptions = MappingProxyType({})


@dataclass(frozen=True)
class TestSet:
    """What every system of a comparison is measured against.

    Attributes:
        segments: Number of segments, n.
        references: Reference sets; `None` lines are missing references. Empty when only scores
            computed elsewhere are compared.
        documents: Document id of each segment, or none known.
        labels: Label of each segment (its domain, say), which makes strata; or none known.
        source: What the systems were given, one line a segment, or not known; no metric looks at
            it, health checks do.
    """

    __test__ = False  # pytest: not a test class

    segments: int
    references: tuple[Text, ...] = ()
    documents: tuple[str, ...] | None = None
    labels: tuple[str, ...] | None = None
    source: Text | None = None

    @classmethod
    def of(
        cls,
        references: Sequence[Sequence[str | None]],
        documents: Sequence[str] | None = None,
        segments: int | None = None,
        labels: Sequence[str] | None = None,
        source: Sequence[str | None] | None = None,
    ) -> TestSet:
        """Build and validate a test set.

        Args:
            references: Reference sets, each with one line a segment.
            documents: Document id of each segment.
            segments: Number of segments, needed only where there are no references.
            labels: Label of each segment.
            source: Source of each segment; `None` where it is not known.

        Raises:
            InputError: No segments, a segment without any reference.
            LengthError: References, documents, labels or sources of unequal lengths.
        """
        lines = [
            check_lines(reference, f"Reference set {i + 1}", field=f"references[{i}]", gaps=True)
            for i, reference in enumerate(check_list(references, "references"))
        ]
        if segments is None:
            if not lines:
                raise InputError(
                    "At least one reference set is needed; of files, one called reference... or "
                    "given as the part references.",
                    field="references",
                )
            segments = len(lines[0])
        count = whole(segments)
        if count is None:
            raise InputError("segments must be a whole number.", field="segments")
        for i, reference in enumerate(lines):
            if len(reference) != count:
                raise LengthError(
                    f"Reference set {i + 1} has {len(reference)} "
                    f"segment{'' if len(reference) == 1 else 's'}, the test set has "
                    f"{count}; every reference set needs one line a segment.",
                    field=f"references[{i}]",
                )
        if count < 1:
            raise InputError("The test set has zero segments.", field="references")
        _require_a_reference(lines)
        sources = _by_segment(source, "source", count, gaps=True)
        return cls(
            count,
            tuple(Text(reference) for reference in lines),
            _by_segment(documents, "documents", count),
            _by_segment(labels, "labels", count),
            None if sources is None else Text(sources),
        )

    def as_json(self) -> dict[str, Any]:
        """The fields of a JSON request that describe this test set."""
        body = {
            "references": [list(text.lines) for text in self.references],
            "segments": None if self.references else self.segments,
            "documents": self.documents,
            "labels": self.labels,
            "source": None if self.source is None else self.source.lines,
        }
        return {k: list(v) if isinstance(v, tuple) else v for k, v in body.items() if v is not None}

    @classmethod
    def load(cls, body: Mapping[str, Any]) -> TestSet:
        """The test set that `as_json` wrote; it is not checked again."""
        references = tuple(Text(lines) for lines in body["references"])
        documents, labels, source = (body.get(n) for n in ("documents", "labels", "source"))
        return cls(
            body["segments"] if not references else len(references[0]),
            references,
            tuple(documents) if documents is not None else None,
            tuple(labels) if labels is not None else None,
            Text(source) if source is not None else None,
        )

    @cached_property
    def sha256(self) -> str:
        """Hash of references, documents, labels and source."""
        digest = hashlib.sha256(b"%d\n" % self.segments)
        for text in self.references:
            digest.update(text.sha256.encode() + b"\n")
        for name in ("documents", "labels", "source"):
            if (lines := getattr(self, name)) is not None:
                text = lines if isinstance(lines, Text) else Text(lines)
                digest.update(f"{name}\n{text.sha256}".encode())
        return digest.hexdigest()


@dataclass(frozen=True)
class System:
    """One system's output.

    Attributes:
        name: Its name in the report.
        hypotheses: One line a segment, or none where only scores are compared.
        scores: Numbers computed elsewhere, by label: (n, w) rows, w = 1 for per-segment scores,
            more for user-supplied tuples.
        replicas: Instead of hypotheses, the outputs of two training runs or more.
    """

    name: str
    hypotheses: Text | None = None
    scores: Mapping[str, Array] = field(default_factory=dict)
    replicas: tuple[Text, ...] = ()

    @classmethod
    def of(
        cls,
        name: str,
        hypotheses: Sequence[str] | None = None,
        scores: Mapping[str, Sequence[float] | Sequence[Sequence[float]]] | None = None,
        replicas: Sequence[Sequence[str]] | None = None,
    ) -> System:
        """Build and validate a system; a single replica is plain hypotheses.

        Raises:
            InputError: A bad name, nothing to measure, replicas besides something else, or scores
                that are not finite numbers.
        """
        check_name(name)
        if not isinstance(scores, Mapping | None):
            raise InputError(
                f"The scores of system {name!r} must be an object with a list of numbers a label.",
                field="scores",
                system=name,
            )
        tables = {
            check_name(label, "score", "scores"): _score_table(rows, name, label)
            for label, rows in (scores or {}).items()
        }
        if replicas is not None:
            return cls._of_replicas(name, replicas, alone=hypotheses is None and not tables)
        if hypotheses is None and not tables:
            raise InputError(f"System {name!r} has no hypotheses.", field="hypotheses", system=name)
        if hypotheses is None:
            return cls(name, None, tables)
        lines = check_lines(hypotheses, f"System {name!r}", field="hypotheses", system=name)
        return cls(name, Text(lines), tables)

    @classmethod
    def _of_replicas(cls, name: str, replicas: object, alone: bool) -> System:
        if not alone:
            raise InputError(
                f"System {name!r} brings replicas, and hypotheses or scores besides them; "
                "replicas are all its output.",
                field="replicas",
                system=name,
            )
        texts = []
        for i, lines in enumerate(check_list(replicas, "replicas")):
            what, field = f"Replica {i + 1} of system {name!r}", f"replicas[{i}]"
            texts.append(Text(check_lines(lines, what, field=field, system=name)))
        if not texts:
            raise InputError(f"System {name!r} has no replicas.", field="replicas", system=name)
        return cls(name, texts[0]) if len(texts) == 1 else cls(name, replicas=tuple(texts))

    def as_json(self) -> dict[str, Any]:
        """The fields of a JSON request that describe what this system brings."""
        body: dict[str, Any] = {}
        if self.hypotheses is not None:
            body["hypotheses"] = list(self.hypotheses.lines)
        if self.replicas:
            body["replicas"] = [list(text.lines) for text in self.replicas]
        if self.scores:
            body["scores"] = {
                label: (table[:, 0] if table.shape[1] == 1 else table).tolist()
                for label, table in self.scores.items()
            }
        return body

    @classmethod
    def load(cls, name: str, body: Mapping[str, Any]) -> System:
        """The system that `as_json` wrote; it is not checked again."""
        hypotheses = body.get("hypotheses")
        return cls(
            name,
            Text(hypotheses) if hypotheses is not None else None,
            {
                label: np.array(rows, float).reshape(len(rows), -1)
                for label, rows in body.get("scores", {}).items()
            },
            tuple(Text(lines) for lines in body.get("replicas", ())),
        )

    @property
    def runs(self) -> tuple[System, ...]:
        """The system once for each of its replicas; itself where it has none."""
        return tuple(System(self.name, text) for text in self.replicas) or (self,)

    @cached_property
    def sha256(self) -> str:
        """Hash of hypotheses, replicas and scores; the name is no part of it."""
        digest = hashlib.sha256()
        for text in self.replicas:
            digest.update(b"replica\n" + text.sha256.encode())
        if self.hypotheses is not None:
            digest.update(self.hypotheses.sha256.encode())
        for label in sorted(self.scores):
            digest.update(b"\n" + label.encode() + b"\n" + self.scores[label].tobytes())
        return digest.hexdigest()

    def require_segments(self, segments: int) -> None:
        """Check that everything this system brings has one entry a segment.

        Raises:
            LengthError: Some list is longer or shorter.
        """
        columns: list[tuple[str, str, Text | Array | None]] = [
            ("hypotheses", "hypotheses", self.hypotheses),
            *((f"scores.{label}", label, table) for label, table in self.scores.items()),
            *((f"replicas[{i}]", f"replica {i + 1}", t) for i, t in enumerate(self.replicas)),
        ]
        for place, what, column in columns:
            if column is not None and len(column) != segments:
                lines = f"{len(column)} line{'' if len(column) == 1 else 's'} of {what}"
                expected = f"{segments} segment{'' if segments == 1 else 's'}"
                raise LengthError(
                    f"System {self.name!r} has {lines}, the test set has {expected}.",
                    field=place,
                    system=self.name,
                )


def _require_a_reference(references: Sequence[Sequence[str | None]]) -> None:
    """Check that every segment has a line in some reference set."""
    if any(None not in lines for lines in references):
        return
    for i, lines in enumerate(zip(*references, strict=True)):
        if all(line is None for line in lines):
            raise InputError(
                f"Segment {i + 1} has no reference in any reference set; "
                'use "" for an empty reference.',
                field="references",
                line=i + 1,
            )


def _by_segment(
    values: object, what: str, segments: int, gaps: bool = False
) -> tuple[Any, ...] | None:
    """Documents, labels or sources, one for each segment, where they are given."""
    if values is None:
        return None
    lines = check_lines(values, what, field=what, gaps=gaps)
    if len(lines) != segments:
        raise LengthError(
            f"{what} has {len(lines)} entr{'y' if len(lines) == 1 else 'ies'}, "
            f"the test set has {segments} segment{'' if segments == 1 else 's'}.",
            field=what,
        )
    return lines


def _require_numbers(rows: object, wrong: Callable[[int, str], InputError]) -> None:
    """Check that what a system has for each segment are numbers, or lists of equally many.

    Raises:
        InputError: One is not; the message says which, and what is there.
    """
    rows = rows if isinstance(rows, list | tuple) else []
    first = rows[0] if rows else None
    width = len(first) if isinstance(first, list | tuple) else None
    for line, row in enumerate(rows, 1):
        entries = row if isinstance(row, list | tuple) else [row]
        odd = [e for e in entries if isinstance(e, bool) or not isinstance(e, NUMBERS)]
        if not odd and (len(row) if isinstance(row, list | tuple) else None) != width:
            odd = [row]
        if odd:
            raise wrong(
                line,
                f"{quoted(odd[0], 40)}; it must be one number, or one list of numbers where all "
                "segments have equally many",
            )


def _score_table(
    rows: Sequence[float] | Sequence[Sequence[float]], system: str, label: str
) -> Array:
    """(n, w) numbers of one system; w is 1 for plain per-segment scores."""
    field = f"scores.{label}"

    def wrong(line: int, why: str) -> InputError:
        where = f"System {system!r}, segment {line}: the {label!r} score is"
        return InputError(f"{where} {why}.", field=field, system=system, line=line)

    table = _numbers(rows)
    if table.ndim != 2 or not table.size:
        _require_numbers(rows, wrong)
        raise InputError(
            f"The {label!r} scores of system {system!r} must be a list with one number, "
            "or one list of equally many numbers, a segment"
            f"{', not an empty list' if rows == [] else ''}.",
            field=field,
            system=system,
        )
    sizes = np.abs(table)
    extreme = (sizes > LARGEST) | ((sizes > 0) & (sizes < 1 / LARGEST))
    unit = (
        "too large or too small to be summed exactly; use another unit (from "
        f"{1 / LARGEST:g} to {LARGEST:g})"
    )
    for flaw, why in ((~np.isfinite(table), "not a finite number"), (extreme, unit)):
        lines = np.flatnonzero(flaw.any(axis=1))
        if lines.size:
            raise wrong(int(lines[0]) + 1, why)
    return table


def _numbers(rows: Sequence[float] | Sequence[Sequence[float]]) -> Array:
    """The same as a table; empty where they are no numbers, or not equally many."""
    try:
        table = np.array(rows)
        types = set(map(type, rows)) if table.ndim else set()
        if types and types <= {list, tuple}:
            types = set(map(type, chain.from_iterable(rows)))  # type: ignore[arg-type]
        if table.dtype == object and types <= {int, float}:  # more than 64 bits hold
            table = table.astype(float)
    except (TypeError, ValueError, OverflowError):
        return np.empty(0)
    # Text that spells a number and true or false are refused: NumPy would read them.
    if table.dtype.kind not in "iuf" or bool in types:
        return np.empty(0)
    numbers = table.astype(float)
    return numbers[:, None] if numbers.ndim == 1 else numbers


def inferred_metrics(
    scores: Mapping[str, Collection[str]], texts: bool, options: MetricOptions = NOTHING
) -> list[Any]:
    """Metrics as a recipe has them: BLEU of texts, and the mean of every kind of scores.

    Scores that some systems lack are left out, unless nothing else is there.

    Args:
        scores: Labels of the scores of each system, by its name.
        texts: Whether all systems have texts, and there are references.
        options: What files say of the metric of a label.
    """
    labels = dict.fromkeys(label for own in scores.values() for label in own)
    shared = [label for label in labels if all(label in own for own in scores.values())]
    chosen = shared or ([] if texts else [*labels])
    metrics: list[Any] = ["bleu"] if texts or not chosen else []
    for label in chosen:
        metric = {"name": "scores", "of": label, **options.get(label, {})}
        if chosen == [LABEL]:
            del metric["of"]
        metrics.append(metric if len(metric) > 1 else metric["name"])
    return metrics
