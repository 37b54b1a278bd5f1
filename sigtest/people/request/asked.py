"""A human evaluation as it is asked for: judgements and choices that fit each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from sigtest.cached import cached_property
from sigtest.kinds.base import About
from sigtest.kinds.whole import WholeQuestion
from sigtest.people.judgements import Judgements
from sigtest.people.preparing import Prepared, prepare
from sigtest.people.rankings import Rankings
from sigtest.people.report import SourceReport
from sigtest.people.statistics.paired import EXACT_FLIPS
from sigtest.report import Stored, digest, encode
from sigtest.requests.people import HumanRequest
from sigtest.version import __version__

SECONDS = 5e-5  # for one judgement
PATTERN_SECONDS = 2e-8  # for one exchange of units of a pair, where all are counted
DRAW_SECONDS = 4e-9  # for one unit of a resample
PRODUCT_SECONDS = 5e-10  # for one unit of a resample and a pair
TESTED_SECONDS = 6e-5  # for one pair of systems, whatever the test
PAIR_SECONDS = 4e-9  # for one pair of a resample


@dataclass(frozen=True)
class Source:
    """Where judgements came from.

    Attributes:
        input: Name of the format.
        rows: Rows in it.
        dropped: Rows left out on reading, by reason.
        sha256: Hash of its bytes, or of the rows of a request.
        scale: Lowest and highest score, where that is known.
    """

    input: str
    rows: int
    dropped: Mapping[str, int]
    sha256: str
    scale: tuple[float, float] | None = None

    def report(self, dropped: Mapping[str, int]) -> SourceReport:
        """What the report says of it, with the rows that were left out once it was read."""
        reasons = {**self.dropped, **dropped}
        used = self.rows - sum(reasons.values())
        return SourceReport(self.input, self.rows, used, reasons, self.sha256)


@dataclass(frozen=True)
class Asked(WholeQuestion):
    """Judgements and choices; everything that follows may trust them.

    Attributes:
        judgements: Those of the language pair and criteria asked for.
        sources: Of each file.
        choices: With languages, standardisation, criteria and test decided.
        notes: What the report should warn of.
    """

    judgements: Judgements | Rankings
    sources: tuple[Source, ...]
    choices: Annotated[HumanRequest, Stored(HumanRequest.stored, HumanRequest.of)]
    notes: tuple[str, ...] = ()

    @cached_property
    def key(self) -> str:
        """Hash of the judgements, the choices and the version."""
        return digest(["human", __version__, encode(self)])

    @property
    def about(self) -> About:
        """Systems, criteria and the test."""
        return About(self.systems, self.choices.criteria, (str(self.choices.test),))

    @property
    def seconds(self) -> float:
        """About how long one core computes it."""
        seconds = 0.1 + SECONDS * sum(source.rows for source in self.sources)
        judged = self.judgements
        systems = len(judged.names if isinstance(judged, Rankings) else judged.system.names)
        pairs = systems * (systems - 1) // 2
        if isinstance(judged, Rankings):
            return seconds + TESTED_SECONDS * pairs
        seconds += TESTED_SECONDS * pairs * len(judged.criterion.names)
        if self.choices.test != "approximate_randomization":
            return seconds
        units = len(judged.segment.names)
        exact = pairs * PATTERN_SECONDS * 2.0 ** min(units, EXACT_FLIPS)
        each = units * (DRAW_SECONDS + pairs * PRODUCT_SECONDS) + pairs * PAIR_SECONDS
        return seconds + len(judged.criterion.names) * (exact + self.choices.resamples * each)

    @cached_property
    def prepared(self) -> Prepared:
        """Scores of segments and what was left out on the way to them.

        Raises:
            InputError: A system or criterion has no judgement left, or a paired test no pairs.
        """
        if isinstance(self.judgements, Rankings):
            raise TypeError("rankings have no scores")
        return prepare(self.judgements, len(self.sources), self.choices)

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, in order of first appearance."""
        judged = self.judgements
        return judged.names if isinstance(judged, Rankings) else judged.system.names

    @property
    def stated(self) -> dict[str, Any]:
        """What the report repeats of the question."""
        names = ("languages", "criteria", "standardise", "test", "aggregate", "alpha",
                 "correction", "seed", "higher_is_better")  # fmt: skip
        chosen = {name: getattr(self.choices, name) for name in names}
        return {"signature": self.signature, "version": __version__, **chosen}

    @property
    def signature(self) -> str:
        """The line that reproduces the report: every choice that decides a number, by name."""
        c = self.choices
        parts = {
            "input": "+".join(dict.fromkeys(source.input for source in self.sources)),
            "languages": c.languages,
            "scale": f"{c.scale[0]:g}..{c.scale[1]:g}" if c.scale else None,
            "criteria": "+".join(c.criteria),
            "lower": "+".join(c.lower) or None,
            "standardise": c.standardise,
            "quality": c.quality.signature if c.quality else "none",
            "undecided": None if c.undecided == "none" else c.undecided,
            "test": c.test,
            "aggregate": c.aggregate,
            "alpha": f"{c.alpha:g}",
            "correction": c.correction,
            "aliases": "+".join(f"{old}={new}" for old, new in c.aliases.items()) or None,
            "domains": c.domains,
            "longitudinal": "+".join(own.signature for own in c.longitudinal.values()) or None,
            "categories": c.categories,
            "resamples": c.resamples,
            "seed": c.seed,
        }
        shown = [f"{name}:{value}" for name, value in parts.items() if value is not None]
        return "|".join(["human", *shown, f"sigtest:{__version__}"])
