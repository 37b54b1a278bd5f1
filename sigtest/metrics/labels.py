"""Classification: a system's lines are labels, held against the labels of one reference set."""

import difflib
import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from unicodedata import normalize
from urllib.parse import quote, unquote

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.data.testset import System, TestSet
from sigtest.data.text import Text
from sigtest.errors import InputError, RecipeError
from sigtest.metrics.base import Fraction, Metric
from sigtest.metrics.scores import ratio

MOST_CLASSES = 100
RESERVED = re.compile(r"[%+,=|():\s]")  # what a signature or an option would read as its own
# what columns of labels are called: label, gold_label, y_true, class
HEADING = re.compile(
    r"(.*[_\s])?(labels?|class(es)?|category|gold|truth|target|prediction|predicted|pred|answer"
    r"|intent|sentiment|emotion|stance|polarity|topic|reference|hypothesis|text)|y([_\s].*)?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class LabelMetric(Metric):
    """A metric of labels, 0 to 1: of two counts, where nothing else is said, one over the other.

    White space around a label does not count.

    Attributes:
        classes: The labels that there are, parted by `+`; those of the references where left out.
            A label outside them is refused, so that no slip of spelling passes for an error.
    """

    papers = ("sokolova-lapalme-2009-systematic",)
    prose = False
    implementation = "labels"

    classes: str = ""

    @property
    def width(self) -> int:
        return 2

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes asked for."""
        return tuple(unquote(name) for name in self.classes.split("+") if name)

    def formula(self, sums: Array) -> Array:
        return ratio(sums)

    def known(self, testset: TestSet) -> tuple[str, ...]:
        """The classes, sorted where they are those of the references."""
        return self.class_names or tuple(sorted({*_labels(testset.references[0])} - {""}))

    def check(self, testset: TestSet, system: System) -> None:
        super().check(testset, system)
        if len(testset.references) > 1 or None in testset.references[0].lines:
            raise InputError(
                f"{self.name} needs one label for every segment; give one reference set without "
                "gaps.",
                field="references",
            )
        known = self.known(testset)
        if len(known) > MOST_CLASSES:
            raise InputError(
                f"There are more than {MOST_CLASSES} different labels, which {self.name} does not "
                "take; are the references labels?",
                field="references",
            )
        if not self.classes:
            _require_no_heading(testset.references[0])
        _require_known(testset.references[0], known, "The references", field="references")
        name = f"System {system.name!r}"
        hypotheses = self.hypotheses(system)
        _require_known(hypotheses, known, name, field="hypotheses", system=system.name)

    def coded(self, testset: TestSet, system: System) -> tuple[Counts, Counts, tuple[str, ...]]:
        """(n,) numbers of the classes that the references say, and that a system says; classes."""
        known = self.known(testset)
        number = {name: i for i, name in enumerate(known)}
        gold, said = (
            np.array([number[label] for label in _labels(text)], int)
            for text in (testset.references[0], self.hypotheses(system))
        )
        return gold, said, known


@dataclass(frozen=True)
class Accuracy(LabelMetric):
    """Share of labels that are right."""

    name = "accuracy"
    title = "accuracy"
    fraction = Fraction(numerator=0, denominator=1)

    def statistics(self, testset: TestSet, system: System) -> Array:
        gold, said, _ = self.coded(testset, system)
        return np.stack([gold == said, np.ones(len(gold))], axis=1).astype(float)


@dataclass(frozen=True)
class OneClass(LabelMetric):
    """A ratio of counts of one class; 0 where there is nothing to divide by.

    Attributes:
        positive: The class.
    """

    positive: str = ""

    def check(self, testset: TestSet, system: System) -> None:
        super().check(testset, system)
        known = self.known(testset)
        if unquote(self.positive) not in known:
            told = "needs the class that it is about" if not self.positive else (
                f"is about {self.positive!r}, which is none of the classes"
            )  # fmt: skip
            raise RecipeError(
                f"{self.name} {told}: {self.name}:positive=LABEL, one of "
                f"{', '.join(map(spelled, known))}.",
                field="metrics",
            )

    def statistics(self, testset: TestSet, system: System) -> Array:
        gold, said, known = self.coded(testset, system)
        positive = known.index(unquote(self.positive))
        rows = self.counts((gold == positive).astype(int), (said == positive).astype(int))
        return np.stack(rows, axis=1).astype(float)

    @abstractmethod
    def counts(self, gold: Counts, said: Counts) -> tuple[Counts, Counts]:
        """Numerator and denominator of each segment, from 1 where it is of the class and 0."""


@dataclass(frozen=True)
class Precision(OneClass):
    """Of what a system labels as one class, the share that is right."""

    name = "precision"
    title = "precision"

    def counts(self, gold: Counts, said: Counts) -> tuple[Counts, Counts]:
        return gold * said, said


@dataclass(frozen=True)
class Recall(OneClass):
    """Of what is of one class, the share that a system finds."""

    name = "recall"
    title = "recall"
    fraction = Fraction(numerator=0, denominator=1)

    def counts(self, gold: Counts, said: Counts) -> tuple[Counts, Counts]:
        return gold * said, gold


@dataclass(frozen=True)
class F1(OneClass):
    """Harmonic mean of precision and recall of one class."""

    name = "f1"
    title = "F1"

    def counts(self, gold: Counts, said: Counts) -> tuple[Counts, Counts]:
        return 2 * (gold * said), gold + said


@dataclass(frozen=True)
class MacroF1(LabelMetric):
    """Mean of the F1 of all classes that references or system have in the segments scored.

    It is the mean of the classes' F1, not the F1 of mean precision and mean recall, which some call
    by the same name (Opitz & Burst 2019, "Macro F1 and Macro F1").
    """

    name = "macro_f1"
    title = "macro-averaged F1"

    def fitted(self, testsets: Sequence[TestSet]) -> Metric:
        """With the classes of all test sets, which say how many statistics there are.

        Raises:
            InputError: Labels that begin with the name of a column.
        """
        texts = [testset.references[0] for testset in testsets if testset.references]
        if self.classes or not texts:
            return self
        for text in texts:
            _require_no_heading(text)
        found = sorted({label for text in texts for label in _labels(text)})
        return replace(self, classes="+".join(map(spelled, found[: MOST_CLASSES + 1])))

    @property
    def width(self) -> int:
        return 2 * len(self.class_names)

    def statistics(self, testset: TestSet, system: System) -> Array:
        gold, said, known = self.coded(testset, system)
        rows = np.zeros((len(gold), len(known), 2))
        segments = np.arange(len(gold))
        rows[segments, gold, 0] = 2 * (gold == said)
        rows[segments, gold, 1] += 1
        rows[segments, said, 1] += 1
        return rows.reshape(len(gold), -1)

    def formula(self, sums: Array) -> Array:
        scores, present = np.zeros(sums.shape[1]), np.zeros(sums.shape[1])
        for twice_right, counted in zip(sums[0::2], sums[1::2], strict=True):
            scores += twice_right / np.maximum(counted, 1.0)
            present += counted > 0
        return scores / np.maximum(present, 1.0)


def spelled(label: str) -> str:
    """A label as an option spells it: `+`, `,` and the like as in addresses (`%2B`)."""
    return RESERVED.sub(lambda found: quote(found[0], safe=""), label)


def _labels(text: Text) -> list[str]:
    return [line.strip() for line in text.complete]


def _require_no_heading(text: Text) -> None:
    """Check that the first label is not the name of a column."""
    first, *others = _labels(text)
    if HEADING.fullmatch(first) and first not in others:
        raise InputError(
            f"The references, segment 1: {first[:60]!r} reads like the name of a column, not like "
            "a label. Take it out, there and in the outputs; if it is a label, name the classes: "
            f"accuracy:classes={spelled(first)}+other.",
            field="references",
            line=1,
        )


def _require_known(
    text: Text, known: Sequence[str], what: str, *, field: str, system: str | None = None
) -> None:
    """Check that every label is one of the classes."""
    others = set(known)
    for line, label in enumerate(_labels(text), 1):
        if not label:
            raise InputError(
                f"{what}, segment {line}: an empty line, which is no label. Where there is no "
                "answer, write a label for that, and name it among the classes: "
                "accuracy:classes=yes+no+none.",
                field=field,
                system=system,
                line=line,
            )
        if label not in others:
            listed = f"{', '.join(known[:12])}{', ...' if len(known) > 12 else ''}"
            raise InputError(
                f"{what}, segment {line}: {label[:60]!r} is none of the classes ({listed})."
                f"{_meant(label, known)} Name classes that the references lack with the metric's "
                "option: accuracy:classes=yes+no.",
                field=field,
                system=system,
                line=line,
            )


def _meant(label: str, known: Sequence[str]) -> str:
    """Which class a label may have meant, as a sentence."""
    plain = {_plain(name): name for name in reversed(known)}
    near = difflib.get_close_matches(_plain(label), plain, 1)
    if not near:
        return ""
    name = plain[near[0]]
    if normalize("NFC", name) == normalize("NFC", label):
        return f" It differs from {name!r} by how accents are encoded (NFC or NFD)."
    return f" Did you mean {name!r}?"


def _plain(label: str) -> str:
    """A label in small letters and, where it is a whole number, without decimals."""
    return normalize("NFC", label).casefold().removesuffix(".0")
