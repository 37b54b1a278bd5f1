"""What to compute from judgements: every choice of a request, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from sigtest.data.choices import choose
from sigtest.errors import RecipeError

STANDARDISE = ("annotator", "annotator_no_refs", "none")
TESTS = ("rank_sum", "signed_rank", "approximate_randomization")
RANKING_TEST = "sign"
QUALITY_TESTS = ("paired_t", "signed_rank", "welch", "mann_whitney")
UNTESTABLE = ("drop", "keep")
AGGREGATES = ("segment", "document")
DOMAINS = ("micro",)
CORRECTIONS = (
    "none",
    "holm",
    "bonferroni",
    "sidak",
    "hochberg",
    "benjamini_hochberg",
    "benjamini_yekutieli",
)
MAX_RESAMPLES = 99_999
MAX_SEED = 2**64 - 1
MAX_CATEGORIES = 100
DEFAULT_SEED = 12345


@dataclass(frozen=True)
class Quality:
    """Which annotators count.

    Attributes:
        test: Gives each annotator's p-value.
        threshold: P-value below which an annotator is careful.
        min_pairs: Pairs that the test needs.
        untestable: Whether annotators with fewer pairs are left out (`drop`) or stay (`keep`).
    """

    test: str = "paired_t"
    threshold: float = 0.05
    min_pairs: int = 3
    untestable: str = "drop"

    @property
    def signature(self) -> str:
        """All four in one word."""
        return f"{self.test}<{self.threshold:g},{self.min_pairs},{self.untestable}"


@dataclass(frozen=True)
class Longitudinal:
    """Four systems of one language pair, as the judgements name them.

    Attributes:
        best_old: The best system of the old test set.
        best_new: The best system of the new one.
        current_old: One system of today on the old test set.
        current_new: The same on the new one.
    """

    best_old: str
    best_new: str
    current_old: str
    current_new: str

    @property
    def signature(self) -> str:
        """All four in one word."""
        return f"({self.best_old},{self.best_new},{self.current_old},{self.current_new})"


@dataclass(frozen=True)
class Choices:
    """What was asked for; None is what the judgements decide.

    Attributes:
        input: Format of the files; recognised where none is named.
        languages: Language pair, where the files hold several.
        scale: Lowest and highest score.
        standardise: `annotator`, `annotator_no_refs` or `none`.
        quality: Quality control; every annotator counts where there is none.
        criteria: In the order in which they decide; all there are where none is named.
        test: Significance test.
        aggregate: What one observation of a test is.
        alpha: Level of decisions.
        correction: Correction for multiple comparisons.
        aliases: New names of systems by the names in the files.
        domains: How segments of several domains are averaged: all alike.
        longitudinal: By name of the language pair.
        categories: Of agreement.
        resamples: Of approximate randomization and of the intervals of gains.
        seed: Of all draws.
        show_annotators: Whether the report names annotators.
    """

    input: str | None = None
    languages: str | None = None
    scale: tuple[float, float] | None = None
    standardise: str | None = None
    quality: Quality | None = None
    criteria: tuple[str, ...] = ()
    test: str | None = None
    aggregate: str = "segment"
    alpha: float = 0.05
    correction: str = "none"
    aliases: Mapping[str, str] = field(default_factory=dict)
    domains: str = "micro"
    longitudinal: Mapping[str, Longitudinal] = field(default_factory=dict)
    categories: int = 5
    resamples: int = 9_999
    seed: int = DEFAULT_SEED
    show_annotators: bool = False

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> Choices:
        """Check the choices of a JSON request; what is left out or null has its default.

        Raises:
            RecipeError: A field that is unknown, of the wrong type or out of range.
        """
        known = [entry.name for entry in fields(cls)]
        for name in request:
            choose(name, [*known, "judgements"], str(name), "field")
        given = {k: v for k, v in request.items() if k in known and v is not None}
        return cls(**{name: _CHECKS[name](value, name) for name, value in given.items()})

    def as_json(self) -> dict[str, Any]:
        """The choices as JSON has them."""
        return asdict(self)

    @classmethod
    def load(cls, stored: Mapping[str, Any]) -> Choices:
        """The choices that `as_json` wrote."""
        quality, scale = stored["quality"], stored["scale"]
        return cls(
            **{
                **stored,
                "quality": None if quality is None else Quality(**quality),
                "scale": None if scale is None else tuple(scale),
                "criteria": tuple(stored["criteria"]),
                "longitudinal": {k: Longitudinal(**v) for k, v in stored["longitudinal"].items()},
            }
        )


def _one_of(known: Sequence[str], what: str) -> Any:
    return lambda value, name: choose(value, known, name, what)


def _text(value: object, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise RecipeError(f"{name} must be text, not {str(value)[:40]!r}.", field=name)
    return value


def _flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise RecipeError(f"{name} must be true or false.", field=name)
    return value


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300:
        raise RecipeError(f"{name} must be a number, not {str(value)[:40]!r}.", field=name)
    if not math.isfinite(value):
        raise RecipeError(f"{name} must be a finite number.", field=name)
    return float(value)


def _whole(low: int, high: int) -> Any:
    def check(value: object, name: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise RecipeError(
                f"{name} must be a whole number from {low} to {high}, not {str(value)[:40]!r}.",
                field=name,
            )
        return value

    return check


def _share(low: float, high: float) -> Any:
    def check(value: object, name: str) -> float:
        number = _number(value, name)
        if not low < number < high:
            raise RecipeError(
                f"{name} must lie between {low:g} and {high:g}, not {number:g}.", field=name
            )
        return number

    return check


def _scale(value: object, name: str) -> tuple[float, float]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise RecipeError(f"{name} must be a list of the lowest and the highest score.", field=name)
    low, high = (_number(end, name) for end in value)
    if low >= high:
        raise RecipeError(f"{name} must rise, not go from {low:g} to {high:g}.", field=name)
    return low, high


def _criteria(value: object, name: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise RecipeError(f"{name} must be a list.", field=name)
    names = tuple(_text(entry, name) for entry in value)
    if len(set(names)) < len(names):
        raise RecipeError(f"{name} names one criterion twice.", field=name)
    if "combined" in names:
        raise RecipeError(f"{name}: no criterion may be called combined.", field=name)
    return names


def _aliases(value: object, name: str) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise RecipeError(f"{name} must be an object of names by names.", field=name)
    return {_text(old, name): _text(new, f"{name}.{old}") for old, new in value.items()}


def _members(value: object, name: str, kind: type) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise RecipeError(f"{name} must be an object.", field=name)
    known = [entry.name for entry in fields(kind)]
    for member in value:
        choose(member, known, f"{name}.{member}", f"field of {name}")
    return dict(value)


def _quality(value: object, name: str) -> Quality:
    checks: dict[str, Any] = {
        "test": _one_of(QUALITY_TESTS, "test of annotators"),
        "threshold": _share(0.0, 1.0),
        "min_pairs": _whole(2, 1_000_000),
        "untestable": _one_of(UNTESTABLE, "treatment of untestable annotators"),
    }
    given = _members(value, name, Quality)
    return Quality(**{k: checks[k](v, f"{name}.{k}") for k, v in given.items()})


def _longitudinal(value: object, name: str) -> dict[str, Longitudinal]:
    """One object with four systems, or several of them by name."""
    if not isinstance(value, Mapping) or not value:
        raise RecipeError(f"{name} must be an object with four systems.", field=name)
    several = all(isinstance(entry, Mapping) for entry in value.values())
    found = {}
    for pair, entry in value.items() if several else [("", value)]:
        path = f"{name}.{pair}" if several else name
        given = _members(entry, path, Longitudinal)
        missing = [f.name for f in fields(Longitudinal) if f.name not in given]
        if missing:
            raise RecipeError(f"{path} has no {missing[0]}.", field=f"{path}.{missing[0]}")
        found[pair] = Longitudinal(**{k: _text(v, f"{path}.{k}") for k, v in given.items()})
    return found


_CHECKS: dict[str, Any] = {
    "input": _text,
    "languages": _text,
    "scale": _scale,
    "standardise": _one_of(STANDARDISE, "standardisation"),
    "quality": _quality,
    "criteria": _criteria,
    "test": _one_of((*TESTS, RANKING_TEST), "significance test"),
    "aggregate": _one_of(AGGREGATES, "unit of aggregation"),
    "alpha": _share(0.0, 0.5),
    "correction": _one_of(CORRECTIONS, "correction"),
    "aliases": _aliases,
    "domains": _one_of(DOMAINS, "average over domains"),
    "longitudinal": _longitudinal,
    "categories": _whole(2, MAX_CATEGORIES),
    "resamples": _whole(1, MAX_RESAMPLES),
    "seed": _whole(0, MAX_SEED),
    "show_annotators": _flag,
}
