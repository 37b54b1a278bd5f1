"""A proportion with its exact interval: how many of so many are right."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from sigtest.errors import InputError
from sigtest.render import records
from sigtest.render.formats import Presented
from sigtest.render.model import Document, Paragraph
from sigtest.report import encode
from sigtest.significance.intervals import clopper_pearson

FIELDS = ("name", "correct", "n", "proportion", "ci", "alpha")


@dataclass(frozen=True)
class Proportion:
    """How many of so many are right.

    Attributes:
        correct: Those that are.
        n: All.
        proportion: correct / n.
        ci: Clopper-Pearson interval, level 1 - alpha.
        alpha: Of the interval.
        name: Of the system, where there is one.
    """

    correct: int
    n: int
    proportion: float
    ci: tuple[float, float]
    alpha: float
    name: str = ""


def proportion(correct: int, n: int, alpha: float, name: str = "") -> Proportion:
    """A proportion and its interval.

    Raises:
        InputError: Counts that are no part and whole.
    """
    if not 0 <= correct <= n or n < 1:
        raise InputError(f"{correct} of {n} is no proportion; correct goes from 0 to n.")
    low, high = clopper_pearson(np.array([correct]), n, 1 - alpha)
    return Proportion(correct, n, correct / n, (float(low[0]), float(high[0])), alpha, name)


def present(found: Proportion) -> Presented:
    """It for any format."""
    return Presented(
        partial(encode, found),
        partial(_document, found),
        {"": partial(records.sheet, FIELDS, [found])},
    )


def _document(found: Proportion) -> Document:
    low, high = found.ci
    whose = f"{found.name}: " if found.name else ""
    verb = "is" if found.correct == 1 else "are"
    said = (
        f"{whose}{found.correct} of {found.n} {verb} correct, {found.proportion:.4f}; "
        f"{100 * (1 - found.alpha):g} % interval [{low:.4f}, {high:.4f}] (Clopper-Pearson)."
    )
    return Document("Proportion", (), (Paragraph(said),))
