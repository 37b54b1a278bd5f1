"""From a request for a plan to its report."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sigtest import report as reports
from sigtest.arrays import Array
from sigtest.comparison.comparison import Comparison, StoredComparison, parse_named
from sigtest.data.names import choose
from sigtest.decide.decisions import POWER, Limit, detectable_in_errors
from sigtest.draws.sample import Samples
from sigtest.draws.studentised import influence
from sigtest.engine import drawn, reduce, sampled
from sigtest.errors import InputError, RecipeError
from sigtest.kinds.base import About, WholeQuestion
from sigtest.kinds.comparisons import ComparisonQuestion
from sigtest.kinds.renderable import Renderable
from sigtest.progress import Progress, silent
from sigtest.report import Methods, Sources, WarningReport, Warnings, with_methods
from sigtest.requests.comparisons import LARGEST, PlanRequest
from sigtest.significance import CORRECTIONS
from sigtest.significance.corrections import strictest_level
from sigtest.special import ndtri
from sigtest.version import __version__

# The report ------------------------


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


# From a question to it ------------------------


@dataclass(frozen=True)
class PlanQuestion(WholeQuestion):
    """A pilot and what to plan from it, validated when parsed.

    Attributes:
        pilot: A comparison on one test set by one metric.
        pair: Names of the two systems to plan for, or nothing for all pairs.
        difference: True difference that is to show, or nothing.
        units: A number of units to plan for besides the usual ones, or nothing.
        corrected: Whether the level is the strictest one of the correction.
    """

    noun = "plan"

    pilot: StoredComparison
    pair: tuple[str, str] | None
    difference: float | None
    units: int | None
    corrected: bool

    @property
    def about(self) -> About:
        """That of the pilot."""
        return ComparisonQuestion(self.pilot).about

    @property
    def seconds(self) -> float:
        """The pilot's, mostly."""
        return 0.2 + ComparisonQuestion(self.pilot).seconds


def parse(request: Mapping[str, Any], files: Sequence[object] = ()) -> PlanQuestion:
    """Validate a request completely.

    Args:
        request: See `PlanRequest`; the comparison may be one that was parsed, as its `id`.
        files: None: texts stand in the request.

    Raises:
        SigtestError: Something is missing, unknown, out of range, or does not fit the rest.
    """
    wanted = PlanRequest.of(request)
    comparison = _comparison(wanted.comparison)
    labels = comparison.recipe.labels
    metric = choose(wanted.metric or labels[0], labels, "metric", "metric of the pilot")
    recipe = comparison.recipe.but(
        metrics=(comparison.recipe.metrics[labels.index(metric)],),
        resamples=comparison.plan.resamples,
    )
    return PlanQuestion(
        pilot=replace(comparison, recipe=recipe),
        pair=_named_pair(comparison, wanted),
        difference=wanted.difference,
        units=wanted.units,
        corrected=wanted.corrected,
    )


def _comparison(body: Mapping[str, Any]) -> Comparison:
    """A comparison that can be a pilot."""
    made = parse_named(body, "A plan")
    (part,) = made.plan.parts
    if part.units < LEAST_UNITS:
        raise InputError(
            f"A pilot needs at least {LEAST_UNITS} {part.recipe.unit}s to say how far scores "
            f"vary; {part.units} given.",
            field="comparison",
        )
    if not part.spread_known:
        raise InputError(
            f"A pilot needs two {part.recipe.unit}s of one label at least; otherwise nothing says "
            "how scores vary within strata.",
            field="comparison",
        )
    return made


def _named_pair(comparison: Comparison, wanted: PlanRequest) -> tuple[str, str] | None:
    """The pair that is named, in the order in which the pilot compares it."""
    named = {"a": wanted.a, "b": wanted.b}
    if not any(named.values()):
        return None
    for field, name in named.items():
        if name is None:
            raise RecipeError(f"{field} is missing: the name of a system.", field=field)
        choose(name, comparison.plan.systems, field, "system of the pilot")
    systems = comparison.plan.systems
    for a, b in comparison.plan.pairs.tolist():
        if {systems[a], systems[b]} == {wanted.a, wanted.b}:
            return systems[a], systems[b]
    raise RecipeError(f"The pilot does not compare {wanted.a} with {wanted.b}.", field="b")


LEAST_UNITS = 10  # of a pilot: with fewer, nothing can be said of how sure its spread is
FEW_UNITS = 50
TIMES = (0.5, 1.0, 2.0, 4.0)  # of the pilot's size
SAMPLE = WarningReport(
    "pilot",
    "The plan takes further units to be like the pilot's, and the systems to stay as they are; a "
    "pilot of other texts says little.",
)


def compute(question: PlanQuestion, progress: Progress | None = None) -> PlanReport:
    """Plan from a pilot.

    Args:
        question: The pilot, and what to plan.
        progress: Called with phase (`statistics`, `resampling`, `report`), done and total.

    Returns:
        The report; the same bits for the same input, choices and version.

    Raises:
        RecipeError: A difference that takes more units than a plan may be about.
    """
    say = progress or silent
    samples = sampled(question.pilot, say)
    blocks = drawn(samples, say)
    say("report", 0, 1)
    report = _report(question, reduce(samples, blocks), _influences(samples))
    say("report", 1, 1)
    return with_methods(report, sentences)


def _influences(samples: Samples) -> Mapping[tuple[str, str], Array]:
    """(units,) influence of each unit on the difference of each pair."""
    (sample,) = samples.parts
    part = sample.part
    own = influence(sample.metrics[0], sample.tables[0], sample.totals[0])
    if part.labels:  # the strata's shares stay as they are, so that only spread within them counts
        for stratum in range(part.streams):
            inside = part.strata == stratum
            own[:, inside] -= own[:, inside].mean(axis=1, keepdims=True)
    names = part.systems
    return {(names[a], names[b]): own[a] - own[b] for a, b in part.pairs.tolist()}


def _report(
    asked: PlanQuestion, found: reports.Report, influences: Mapping[tuple[str, str], Array]
) -> PlanReport:
    plan = asked.pilot.plan
    (part,), recipe = plan.parts, plan.recipe
    strictest = strictest_level(recipe.correction, plan.comparisons, recipe.alpha)
    limit = Limit(recipe.correction, recipe.alpha, plan.comparisons)
    times = detectable_in_errors(limit, recipe.alternative)[asked.corrected]
    rows = [row for row in found.pairs if row.test == recipe.tests[0]]
    first = {frozenset((row.a, row.b)): row for row in reversed(rows)}
    rows = [row for row in rows if first[frozenset((row.a, row.b))] is row]  # claims alike
    kept = [row for row in rows if asked.pair in (None, (row.a, row.b))]
    pairs = tuple(_pair(asked, row, influences[row.a, row.b], times) for row in kept)
    said = {
        "pair": "all" if asked.pair is None else "+".join(asked.pair),
        "difference": "none" if asked.difference is None else f"{asked.difference:g}",
        "units": "usual" if asked.units is None else str(asked.units),
        "corrected": str(asked.corrected).lower(),
    }
    signature = "|".join(f"{name}:{value}" for name, value in said.items())
    return PlanReport(
        signature=f"{signature}|({plan.signature})",
        version=__version__,
        metric=recipe.labels[0],
        unit=recipe.unit,
        pilot=part.units,
        alternative=recipe.alternative,
        alpha=recipe.alpha,
        correction=recipe.correction,
        comparisons=plan.comparisons,
        corrected=asked.corrected,
        level=strictest if asked.corrected else recipe.alpha,
        power=POWER,
        difference=asked.difference,
        pairs=pairs,
        warnings=(*_warnings(pairs, part.units, recipe.unit), SAMPLE),
    )


def _pair(asked: PlanQuestion, row: reports.PairReport, values: Array, times: float) -> PlannedPair:
    pilot, stderr = asked.pilot.plan.parts[0].units, row.stderr
    same = stderr <= 0 or not np.any(values)
    factors = (1.0, 1.0) if same else stderr_factors(values, asked.pilot.plan.parts[0].draws)
    low, high = ends = (stderr * factors[0], stderr * factors[1])
    usual = {max(2, round(pilot * share)) for share in TIMES}
    sizes = tuple(
        PlannedSize(
            n,
            detectable(stderr, times, pilot, n),
            (detectable(low, times, pilot, n), detectable(high, times, pilot, n)),
        )
        for n in sorted(usual | ({asked.units} if asked.units else set()))
        if not same
    )
    pair = PlannedPair(row.a, row.b, row.difference, stderr, ends, sizes, None, None)
    if same or (wanted := asked.difference) is None:
        return pair
    if detectable(stderr, times, pilot, LARGEST) > wanted:
        raise RecipeError(
            f"A difference of {wanted:g} between {row.a} and {row.b} takes more than {LARGEST:,} "
            f"{asked.pilot.plan.recipe.unit}s to show; plan for a larger one.",
            field="difference",
        )
    units, least, most = (needed(error, times, pilot, wanted) for error in (stderr, *ends))
    return replace(pair, needed=units, needed_ci=(least, most))


def _warnings(pairs: tuple[PlannedPair, ...], pilot: int, unit: str) -> list[WarningReport]:
    said = [
        WarningReport(
            "constant",
            f"{pair.a} and {pair.b} do not differ in the pilot, which says nothing of how their "
            "difference would vary.",
            pairs=((pair.a, pair.b),),
        )
        for pair in pairs
        if pair.stderr <= 0
    ]
    if pilot < FEW_UNITS:
        sentence = (
            f"A pilot of {pilot} {unit}s: its standard errors are uncertain themselves, and so is "
            "the plan; look at the upper ends of its intervals."
        )
        said.append(WarningReport("few-units", sentence))
    return said


Z = float(ndtri(0.975))  # of 95 % intervals


def stderr_factors(values: Array, resamples: int) -> tuple[float, float]:
    """Ends of the 95 % interval of a standard error, as multiples of the bootstrap's estimate.

    Bonett (2006), "Approximate confidence interval for standard deviation of nonnormal
    distributions", Computational Statistics & Data Analysis 50(3): the logarithm of the variance
    has a standard error that follows from the kurtosis about a trimmed mean. It is that of
    the sample variance, over n - 1, where the bootstrap's is over n. The bootstrap's own noise, a
    variance of 2 / R of that logarithm, is added.

    Args:
        values: (n,) influence of each unit on the difference; they vary, and n is at least 10.
        resamples: R.
    """
    n = len(values)
    cut = int(n / (2 * math.sqrt(n - 4)))
    ordered = np.sort(values)
    middle = ordered[cut : n - cut].mean() if n > 2 * cut else np.median(ordered)
    squares = ((values - values.mean()) ** 2).sum()
    kurtosis = n * float(((values - middle) ** 4).sum() / squares**2)
    variance = max(0.0, kurtosis - (n - 3) / n) / (n - 1) + 2 / resamples
    centre, reach = math.sqrt(n / (n - Z) * n / (n - 1)), Z * n / (n - Z) * math.sqrt(variance) / 2
    return centre * math.exp(-reach), centre * math.exp(reach)


def detectable(stderr: float, times: float, pilot: int, units: int) -> float:
    """Smallest true difference that so many units show.

    Args:
        stderr: Standard error of the difference in the pilot.
        times: z of the level plus z of the power.
        pilot: Units of the pilot.
        units: Units of the plan.
    """
    return stderr * times * math.sqrt(pilot / units)


def needed(stderr: float, times: float, pilot: int, difference: float) -> int:
    """Fewest units whose detectable difference is at most `difference`; two at least."""
    return max(2, math.ceil(pilot * (stderr * times / difference) ** 2))


def sentences(report: PlanReport, sources: Sources) -> Iterator[str]:
    """From which pilot, to which level and power."""
    yield (
        f"From a pilot of {report.pilot:,} {report.unit}s the bootstrap gives the standard error "
        f"of differences in {report.metric}{sources.cite('efron-tibshirani-1993-introduction')}, "
        f"which shrinks with the square root of the number of {report.unit}s; intervals say how "
        f"uncertain that standard error is{sources.cite('bonett-2006-approximate')}."
    )
    correction = CORRECTIONS[report.correction]
    corrected = (
        f", the strictest of the method of {correction.title}{sources.cite(*correction.papers)} "
        f"for {report.comparisons:,} comparisons,"
        if report.corrected and report.correction != "none" and report.comparisons > 1
        else ""
    )
    yield (
        f"A difference counts as shown where p reaches {report.level:.3g}{corrected} with "
        f"{round(100 * report.power):d} % power{sources.cite('card-etal-2020-little')}."
    )
