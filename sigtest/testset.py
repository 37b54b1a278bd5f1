"""Test sets and systems: validated, aligned and identified by their content."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sigtest.arrays import Array
from sigtest.errors import InputError, LengthError
from sigtest.text import Text

MAX_NAME = 200
_FORBIDDEN = set("<>\"'`/")


def check_name(name: str, what: str = "system") -> str:
    """Return `name` if it can safely name a system in files, pages and tables.

    Raises:
        InputError: Empty, longer than 200 characters, a control character, a quotation mark, an
            angle bracket, a slash, only dots, or space at either end.
    """
    shown = ascii(name)[:60]
    if not name or len(name) > MAX_NAME:
        raise InputError(
            f"A {what}'s name must have 1 to {MAX_NAME} characters; {shown} has {len(name)}.",
            field="name",
        )
    bad = sorted({c for c in name if c in _FORBIDDEN or unicodedata.category(c)[0] == "C"})
    if bad or name.strip() != name or not name.strip("."):
        reason = f"contains {', '.join(ascii(c) for c in bad)}" if bad else "is blank at an end"
        if not name.strip("."):
            reason = "consists of dots"
        raise InputError(
            f"The {what} name {shown} {reason}; use letters, digits, spaces and marks other than "
            "quotes, angle brackets, slashes and control characters.",
            field="name",
        )
    return name


@dataclass(frozen=True)
class TestSet:
    """What every system of a comparison is measured against.

    Attributes:
        segments: Number of segments, n.
        references: Reference sets; `None` lines are missing references. Empty when only scores
            computed elsewhere are compared.
        documents: Document id of each segment, or none known.
    """

    __test__ = False  # pytest: not a test class

    segments: int
    references: tuple[Text, ...] = ()
    documents: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls,
        references: Sequence[Sequence[str | None]],
        documents: Sequence[str] | None = None,
        segments: int | None = None,
    ) -> TestSet:
        """Build and validate a test set.

        Args:
            references: Reference sets, each with one line a segment.
            documents: Document id of each segment.
            segments: Number of segments, needed only where there are no references.

        Raises:
            InputError: No segments, a segment without any reference.
            LengthError: References or documents of unequal lengths.
        """
        if segments is None:
            if not references:
                raise InputError("At least one reference set is needed.", field="references")
            segments = len(references[0])
        for i, reference in enumerate(references):
            if len(reference) != segments:
                raise LengthError(
                    f"Reference set {i + 1} has {len(reference)} segments, the test set has "
                    f"{segments}; every reference set needs one line a segment.",
                    field=f"references[{i}]",
                )
        if segments == 0:
            raise InputError("The test set has zero segments.", field="references")
        if documents is not None and len(documents) != segments:
            raise LengthError(
                f"documents has {len(documents)} entries, the test set has {segments} segments.",
                field="documents",
            )
        texts = tuple(Text(reference) for reference in references)
        if texts:
            for i, lines in enumerate(zip(*(text.lines for text in texts), strict=True)):
                if all(line is None for line in lines):
                    raise InputError(
                        f"Segment {i + 1} has no reference in any reference set; "
                        'use "" for an empty reference.',
                        field="references",
                        line=i + 1,
                    )
        return cls(segments, texts, tuple(documents) if documents is not None else None)

    @cached_property
    def sha256(self) -> str:
        """Hash of references and documents."""
        digest = hashlib.sha256(b"%d\n" % self.segments)
        for text in self.references:
            digest.update(text.sha256.encode() + b"\n")
        if self.documents is not None:
            digest.update(b"documents\n" + Text(self.documents).sha256.encode())
        return digest.hexdigest()


@dataclass(frozen=True)
class System:
    """One system's output.

    Attributes:
        name: Its name in the report.
        hypotheses: One line a segment, or none where only scores are compared.
        scores: Numbers computed elsewhere, by label: (n, w) rows, w = 1 for per-segment scores,
            more for user-supplied tuples.
    """

    name: str
    hypotheses: Text | None = None
    scores: Mapping[str, Array] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        name: str,
        hypotheses: Sequence[str] | None = None,
        scores: Mapping[str, Sequence[float] | Sequence[Sequence[float]]] | None = None,
    ) -> System:
        """Build and validate a system.

        Raises:
            InputError: A bad name, neither hypotheses nor scores, or scores that are not
                finite numbers.
        """
        check_name(name)
        tables = {
            check_name(label, "score"): _score_table(rows, name, label)
            for label, rows in (scores or {}).items()
        }
        if hypotheses is None and not tables:
            raise InputError(f"System {name!r} has no hypotheses.", field="systems", system=name)
        return cls(name, Text(hypotheses) if hypotheses is not None else None, tables)

    @cached_property
    def sha256(self) -> str:
        """Hash of hypotheses and scores; the name is no part of it."""
        digest = hashlib.sha256()
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
        columns = [("hypotheses", self.hypotheses), *self.scores.items()]
        for what, column in columns:
            if column is not None and len(column) != segments:
                raise LengthError(
                    f"System {self.name!r} has {len(column)} lines of {what}, "
                    f"the test set has {segments} segments.",
                    field="systems",
                    system=self.name,
                )


def _score_table(
    rows: Sequence[float] | Sequence[Sequence[float]], system: str, label: str
) -> Array:
    """(n, w) numbers of one system; w is 1 for plain per-segment scores."""
    try:
        table = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2 or not table.size:
        raise InputError(
            f"The {label!r} scores of system {system!r} must be one number, "
            "or one list of equally many numbers, a segment.",
            field=f"scores.{label}",
            system=system,
        )
    bad = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if bad.size:
        raise InputError(
            f"System {system!r}, segment {bad[0] + 1}: the {label!r} score is not a finite number.",
            field=f"scores.{label}",
            system=system,
            line=int(bad[0]) + 1,
        )
    return table
