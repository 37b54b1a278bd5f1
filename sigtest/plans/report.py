"""The report of a plan: its dataclasses, documented here only."""

from dataclasses import dataclass

from sigtest.kinds.renderable import Renderable
from sigtest.report import Methods, Warnings


@dataclass(frozen=True)
class PlannedSize:
    """What a test set of some size would show of a pair.

    Attributes:
        units: Segments, or documents where these are resampled.
        detectable: Smallest true difference that shows with the report's power.
        ci: 95 % interval of `detectable`, from the uncertainty of the pilot's standard error.
    """

    units: int
    detectable: float
    ci: tuple[float, float]


@dataclass(frozen=True)
class PlannedPair:
    """Two systems of the pilot.

    Attributes:
        a: First system.
        b: Second system; the baseline where there is one.
        difference: Observed in the pilot, score of a less score of b.
        stderr: Standard error of the difference in the pilot.
        stderr_ci: 95 % interval of the true standard error at the pilot's size.
        sizes: By units; none where the systems do not differ in the pilot, which then cannot say.
        needed: Units with which the asked true difference shows with the report's power; null where
            no difference is asked for or the pilot cannot say.
        needed_ci: 95 % interval of `needed`, from the uncertainty of the standard error.
    """

    a: str
    b: str
    difference: float
    stderr: float
    stderr_ci: tuple[float, float]
    sizes: tuple[PlannedSize, ...]
    needed: int | None
    needed_ci: tuple[int, int] | None


@dataclass(frozen=True, repr=False)
class PlanReport(Renderable):
    """Which differences test sets of other sizes would show.

    Attributes:
        signature: The line that, with the pilot's texts, reproduces it.
        version: Of sigtest.
        metric: Label of the metric.
        unit: What is counted: `segment` or `document`.
        pilot: Units of the pilot.
        alternative: The claim.
        alpha: Of the pilot's decisions.
        correction: Of the pilot.
        comparisons: Size of the family that is corrected for.
        corrected: Whether `level` is the strictest one of the correction.
        level: Level that p-values must reach.
        power: With which the difference shows.
        difference: True difference that was asked about, or null.
        pairs: In the order of the pilot.
        warnings: What the reader must not overlook.
        methods: How the numbers came about, for a paper.
    """

    path = "plans"

    signature: str
    version: str
    metric: str
    unit: str
    pilot: int
    alternative: str
    alpha: float
    correction: str
    comparisons: int
    corrected: bool
    level: float
    power: float
    difference: float | None
    pairs: tuple[PlannedPair, ...]
    warnings: Warnings
    methods: Methods | None = None
