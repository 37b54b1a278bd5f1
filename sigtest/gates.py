"""Gates: whether a change may pass, given how much worse it may be.

A difference that is not significant is no proof that there is none. A gate names the margin
beforehand and turns the question round: its null hypothesis is that the system is worse than the
baseline by the margin or more, and only data that reject it let the system pass. Equivalence asks
that of both sides (two one-sided tests). All p-values come from the same studentised draws as those
of the bootstrap-t, shifted to the margin; of scores that are 0 or 1 from the intervals of shares,
so that a system passes just where its interval excludes what it must not be.

Schuirmann (1987), "A Comparison of the Two One-Sided Tests Procedure and the Power Approach for
Assessing the Equivalence of Average Bioavailability".
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal, Self, get_args

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.comparison.comparison import Comparison
from sigtest.data.names import choose
from sigtest.draws.sample import Sample, oriented_differences
from sigtest.engine import sampled
from sigtest.errors import RecipeError
from sigtest.progress import Progress, silent
from sigtest.render import model, text
from sigtest.render.words import percent
from sigtest.report import Ends, WarningReport, Warnings, counted, encode, listed
from sigtest.significance import CORRECTIONS, TESTS, Design, intervals
from sigtest.significance.base import SLACK
from sigtest.significance.corrections import adjust, smallest_attainable, strictest_level
from sigtest.significance.units import hypergeometric
from sigtest.special import bdtrc
from sigtest.version import __version__

Claim = Literal["not_worse", "equivalent", "same"]
Outcome = Literal["pass", "undecided", "fail"]  # the last of several is that of all
CLAIMS: tuple[Claim, ...] = get_args(Claim)
# of shares: whose comparison has the same intervals; `exact` is no choice of gates
EXACT: dict[Design, str] = {"paired": "mcnemar", "unpaired": "fisher", "number": "binomial"}
HALVINGS = 50  # of a p-value's place
UNLIKELY = 1e-12  # outcomes that power leaves out
MEANT = {
    "not_worse": "not worse than {baseline} by {margin:g} {metric}",
    "at_least": "at least {baseline} {metric}",
    "at_most": "at most {baseline} {metric}",
    "equivalent": "within {margin:g} {metric} of {baseline}",
    "same": "no significant difference from {baseline} (A/A)",
}


@dataclass(frozen=True)
class Gated:
    """One system at the gate.

    Attributes:
        system: Its name.
        difference: Its score less the baseline's, not oriented.
        ci: Interval of the difference, level 1 - 2 alpha: what both one-sided tests at alpha look
            at. Of the claim `same`, level 1 - alpha. It is the bootstrap-t's; of shares it is
            Bonett and Price's, of systems on items of their own Newcombe's, and against a number
            Clopper and Pearson's less that number.
        p_value: Of the null hypothesis that it must not pass: of shares half the alpha at which
            the interval ends at the margin, which against a number is the exact binomial one.
        p_adjusted: Corrected over the systems.
        p_fail: Of the null hypothesis that it should pass.
        p_fail_adjusted: Corrected over the systems; a small one fails it.
        outcome: Whether it passes, fails, or the test set cannot tell.
        power: How likely a system without any difference passes: at the strictest level of the
            correction, as a lone one of several.
    """

    system: str
    difference: float
    ci: Ends
    p_value: float
    p_adjusted: float
    p_fail: float
    p_fail_adjusted: float
    outcome: Outcome
    power: float


@dataclass(frozen=True, repr=False)
class GateReport:
    """What a gate decides.

    Attributes:
        signature: The line that reproduces the comparison behind it.
        version: Of sigtest.
        claim: What lets a system pass: `not_worse` by the margin, `equivalent` within it, or, for
            two runs of one system (A/A), `same`: no significant difference.
        margin: How much worse, in units of the metric; nothing for `same`. Against a number it may
            be 0: then a system passes that is shown to reach the number.
        metric: Its label.
        alpha: Level of every one-sided test; two-sided for `same`.
        higher_is_better: False for error rates.
        correction: For several systems; of passes and of failures, each by themselves.
        baseline: What they are held against.
        systems: All others, in input order.
        outcome: `fail` where any system fails, `pass` where all pass.
        warnings: What the reader must not overlook.
    """

    signature: str
    version: str
    claim: Claim
    margin: float | None
    metric: str
    alpha: float
    higher_is_better: bool
    correction: str
    baseline: str
    systems: tuple[Gated, ...]
    outcome: Outcome
    warnings: Warnings

    def as_json(self) -> dict[str, Any]:
        """The report as JSON has it."""
        return dict(encode(self))

    def __str__(self) -> str:
        """The outcome, a row for each system, and the signature."""
        return text.render(self.document())

    def document(self) -> model.Document:
        """It for any look."""
        systems, places = self.systems, 2 if any(s.ci[1] - s.ci[0] > 1 for s in self.systems) else 4
        columns = (
            model.column("outcome", (s.outcome for s in systems)),
            model.column("difference", (s.difference for s in systems), places, signed=True),
            model.column("interval", (s.ci for s in systems), places),
            model.column("p", (f"{s.p_adjusted:.2g}" for s in systems)),
            model.column("power", (f"{s.power:.2f}" for s in systems if self.margin)),
        )
        called = model.names("system", (s.system for s in systems))
        higher = self.higher_is_better
        metric = self.metric if higher else f"{self.metric} (lower is better)"
        group = model.Group(metric, tuple(column for column in columns if column.cells))
        reached = "at_least" if higher else "at_most"
        meant = MEANT[reached if self.margin == 0 else self.claim].format(
            baseline=self.baseline, margin=self.margin or 0.0, metric=self.metric
        )
        side, times = ("two", 1) if self.claim == "same" else ("one", 2)
        level = percent(1 - times * self.alpha)
        notes = []
        if self.margin != 0 and any(system.power < 0.8 for system in self.systems):
            notes.append(
                "A power below .8 (how likely a system without any difference passes): this test "
                "set often cannot tell, even where nothing differs; take more segments or a wider "
                "margin"
            )
        if self.claim == "same" and self.outcome == "pass":
            notes.append(
                "That no difference shows does not prove that there is none; the claim equivalent "
                "can (--equivalent in the shell)"
            )
        return model.Document(
            "Gate",
            (f"{self.outcome}: {meant}, {side}-sided at {self.alpha:g}; {level} intervals",),
            (model.ReportTable(f"Less {self.baseline}", (called,), (group,)),),
            notes=tuple(notes),
            warnings=tuple(map(str, self.warnings)),
            signature=self.signature,
        )

    __repr__ = __str__


# what a gate's claim decides already; given as anything else it would be ignored
DECIDED = {
    "tests": ["bootstrap_t"],
    "interval": "bootstrap_t",
    "alternative": "two-sided",
    "exact": "auto",
}


def check_choices(choices: Mapping[str, Any]) -> None:
    """Check that nothing is chosen that a gate's claim decides already.

    Args:
        choices: Of the recipe, as they were given; defaults left out.

    Raises:
        RecipeError: A test, kind of intervals or alternative that a gate does not have.
    """
    for field, decided in DECIDED.items():
        given = choices.get(field)
        if (list(given) if isinstance(given, tuple) else given) not in (None, decided):
            raise RecipeError(
                "A gate's p-values and intervals are those of the bootstrap-t, and its claim says "
                f"on which side; leave out {field}.",
                field=field,
            )


def check(comparison: Comparison, claim: Claim) -> None:
    """Check that a gate can decide of a comparison.

    Raises:
        RecipeError: It has no baseline, several metrics or test sets, or nothing to decide from.
    """
    recipe = comparison.recipe
    if comparison.names:
        raise RecipeError("A gate is about one test set.", field="testsets")
    if len(recipe.metrics) != 1:
        raise RecipeError(
            "A gate has one metric, as its margin is in that metric's units; "
            f"name one of {', '.join(metric.spelling for metric in recipe.metrics)}.",
            field="metrics",
        )
    if len(recipe.baselines) != 1:
        raise RecipeError(
            "A gate needs the one baseline that systems are compared with (--baseline NAME in the "
            "shell).",
            field="pairs",
        )
    if len(comparison.entries[0].systems) < 2:
        raise RecipeError("A gate needs a system to compare with the baseline.", field="systems")
    if not comparison.plan.parts[0].spread_known:
        raise RecipeError(
            f"A gate needs two {recipe.unit}s{' of one label' if recipe.stratified else ''} at "
            "least; otherwise nothing says how scores vary.",
            field="stratified" if recipe.stratified else "unit",
        )
    if CORRECTIONS[recipe.correction].joint is not None:
        raise RecipeError(
            f"correction {recipe.correction} does not go with gates; take holm.", field="correction"
        )
    _check_level(comparison, claim)


def _check_level(comparison: Comparison, claim: Claim) -> None:
    """A gate that decides the same of all data, as no p-value could be small enough, is none."""
    recipe, part = comparison.recipe, comparison.plan.parts[0]
    if recipe.alpha >= 0.5 and claim != "same":
        raise RecipeError(
            f"alpha of a one-sided test must be below 0.5, not {recipe.alpha:g}.", field="alpha"
        )
    if part.shares:
        return  # nothing is resampled
    pairs, sides = len(part.pairs), 2 if claim == "same" else 1
    least = min(1.0, sides / (part.resamples + 1))
    family = recipe.comparisons(pairs)
    if smallest_attainable(recipe.correction, pairs, least, family) > recipe.alpha:
        raise RecipeError(
            f"The smallest p-value of {part.resamples:,} resamples is {least:.2g}, which is not "
            f"significant at {recipe.alpha:g} after {recipe.correction} over {family}; take more.",
            field="resamples",
        )


def margin_of(margin: object, claim: Claim, comparison: Comparison) -> float | None:
    """The margin as a plain number, so that reports do not tell 2 from 2.0 or NumPy's."""
    if claim == "same":
        if margin is not None:
            raise RecipeError("Two runs of one system need no margin.", field="margin")
        return None
    if margin is None and claim == "not_worse" and comparison.recipe.bar is not None:
        return 0.0  # the number itself is what may not be missed
    if margin is None:
        raise RecipeError(
            "A gate needs a margin (--margin M in the shell): how much worse a system may be, in "
            "units of the metric.",
            field="margin",
        )
    size = math.nan
    if isinstance(margin, Real) and not isinstance(margin, bool):
        with suppress(OverflowError):
            size = float(margin)
    if not 0 < size < math.inf:
        raise RecipeError(f"margin must be a positive number, not {margin!r}.", field="margin")
    if size >= 1 and comparison.plan.parts[0].proportions:
        raise RecipeError(
            f"margin {size:g} is no difference of two shares, and every system would pass: "
            f"{comparison.recipe.labels[0]} is 0 or 1 for every item; one point is 0.01.",
            field="margin",
        )
    return size


def gate(
    comparison: Comparison,
    margin: float | None = None,
    claim: str = "not_worse",
    progress: Progress | None = None,
) -> GateReport:
    """Decide which systems may pass.

    Args:
        comparison: One metric, one test set, and a baseline that the others are held against.
        margin: How much worse a system may be, in units of the metric; none for `same`.
        claim: What lets a system pass, in CLAIMS.
        progress: As for `compare`.

    Raises:
        RecipeError: A margin that is no positive number, or that is missing; several metrics or
            test sets; no baseline; units of which nothing says how they vary; a correction of all
            pairs' draws; too few resamples for any p-value to be significant.
    """
    chosen = choose(claim, CLAIMS, "claim", "claim")
    check(comparison, chosen)
    margin = margin_of(margin, chosen, comparison)
    recipe = comparison.recipe
    drawing = recipe.but(tests=("bootstrap_t",), interval="bootstrap_t")
    (sample,) = sampled(replace(comparison, recipe=drawing), progress or silent).parts
    part = sample.part
    shares = comparison.plan.parts[0].shares
    held = _Shares.of(sample) if shares else _Draws(sample, progress or silent)
    said = recipe.but(tests=(EXACT[recipe.design],)) if shares else drawing
    sign = sample.metrics[0].sign
    alpha = recipe.alpha if margin is None else 2 * recipe.alpha
    low, high = np.sort(sign * np.stack(held.ends(alpha)), axis=0)
    p, p_fail = _p_values(held, margin, chosen)
    names = [part.systems[first] for first in part.pairs[:, 0]]
    comparisons = recipe.comparisons(len(names))
    adjusted, failed = (adjust(own, recipe.correction, comparisons) for own in (p, p_fail))
    strictest = strictest_level(recipe.correction, comparisons, recipe.alpha)
    power = [_power(held, i, margin, chosen, strictest) for i in range(len(names))]
    differences = sign * oriented_differences(part, 0, sample.scores[0])[0]
    columns = np.column_stack([differences, low, high, p, adjusted, p_fail, failed, power])
    systems = tuple(
        Gated(
            name, own, (start, end), alone, passes, fails_alone, fails,
            _outcome(chosen, passes, fails, recipe.alpha), chance,
        )
        for name, (own, start, end, alone, passes, fails_alone, fails, chance) in zip(
            names, columns.tolist(), strict=True
        )
    )  # fmt: skip
    return GateReport(
        signature=replace(part, recipe=said).signature,
        version=__version__,
        claim=chosen,
        margin=margin,
        metric=recipe.labels[0],
        alpha=recipe.alpha,
        higher_is_better=sign > 0,
        correction=recipe.correction,
        baseline=recipe.baselines[0],
        systems=systems,
        outcome=max((own.outcome for own in systems), key=get_args(Outcome).index),
        warnings=held.warnings(names) if isinstance(held, _Draws) and margin is not None else (),
    )


class _Draws:
    """Oriented differences held against studentised draws.

    Args:
        sample: What is drawn from.
        say: Hears that all resamples are drawn.
    """

    def __init__(self, sample: Sample, say: Progress) -> None:
        (found,), self.part, sign = sample.studentised, sample.part, sample.metrics[0].sign
        pairs, resamples = slice(len(self.part.systems), None), self.part.resamples
        say("resampling", 0, resamples)
        values, moved, self.spreads = found.resampled(pairs, 0, resamples)
        say("resampling", resamples, resamples)
        self.differences, self.errors = sign * found.observed[pairs], found.errors[pairs]
        self.values, self.moved = sign * values, sign * moved  # (P, R)
        self.tails = found.tails[pairs]
        self.evenness = sample.evenness[0, self.part.pairs].min(axis=1)

    def warnings(self, names: Sequence[str]) -> Warnings:
        """Those that follow from skewness; docs/VALIDITY.md has what was measured."""
        part, still = self.part, self.errors == 0
        skewness = intervals.skewness(self.moved + self.differences[:, None])
        test, unit = TESTS["bootstrap_t"], part.recipe.unit
        said = list[WarningReport]()
        if constant := [name for name, own in zip(names, still, strict=True) if own]:
            unseen = 1 - part.recipe.alpha ** (1 / part.units)
            sentence = (
                f"No resample changes the difference of {listed(constant)} from the baseline, so "
                f"p-values, intervals and power take it as certain; yet up to {100 * unseen:.2g} % "
                f"of {unit}s may be of a kind that none of these {counted(part.units, unit)} is."
            )
            said.append(WarningReport("constant", sentence, tuple(constant)))
        pairs = zip(names, skewness, still, self.evenness.tolist(), strict=True)
        skewed = [
            name
            for name, own, same, even in pairs
            if not same and not test.keeps_level(part.units, own, evenness=even)
        ]
        if skewed:
            lowest = float(self.evenness.min())
            code = test.level_doubt(part.units, 0.0, evenness=lowest) or "skewed"
            why = f"The differences of {listed(skewed)} from the baseline are skewed"
            if code == "few-units":
                why = f"There are {counted(part.units, unit)}, fewer than {test.least_units}"
            elif code == "unequal-units":
                tell = f"{part.units * lowest:.0f}"
                why = f"The {part.units} {unit}s weigh so unequally that they tell as {tell} do"
            sentence = (
                f"{why}: a system at the margin passes more often than alpha says where it loses "
                f"much on rare {unit}s, and fails more often where it gains much (in simulations "
                ".06 to .11 and, of five systems, .05 to .19 at .05)."
            )
            said.append(WarningReport(code, sentence, tuple(skewed)))
        return tuple(said)

    def ends(self, alpha: float) -> tuple[Array, Array]:
        return intervals.bootstrap_t_interval(
            self.differences, self.errors, self.values, self.tails, alpha
        )

    def p(self, limit: float, side: int) -> Array:
        """(P,) p-values of differences at most a limit, or with the side -1 at least."""
        moved, ordered = side * (self.differences - limit), np.sort(side * self.values, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.fmax(moved / self.errors, -np.inf)  # of 0 / 0, too
        t = intervals.drawn_in(t, self.tails, "greater")
        least = t * (1 - SLACK * np.sign(t))
        of_each = least.reshape(len(ordered), -1)
        below = np.concatenate([*map(np.searchsorted, ordered, of_each)])
        return intervals.p_value(ordered.shape[1] - below, ordered.shape[1])

    def by_chance(self, i: int) -> tuple[Self, Array]:
        """What one pair may show where nothing differs: each resample, with its standard error."""
        seen = copy(self)
        seen.values, seen.errors, seen.tails = self.values[[i]], self.spreads[i], self.tails[[i]]
        seen.differences = seen.values[0] * seen.errors
        return seen, np.ones(len(seen.errors))


@dataclass(frozen=True)
class _Shares:
    """Held against the intervals of shares: p is half the alpha at which one ends at the limit.

    Attributes:
        design: Which intervals: Bonett and Price's on common items, Newcombe's on other items,
            Clopper and Pearson's less a number, whose p-values are the exact binomial ones.
        right: (2, P) items that either system has right.
        items: (2, P) that it has.
        unlike: (P,) items that one of the two alone has right.
    """

    design: Design
    right: Array
    items: Array
    unlike: Counts

    @classmethod
    def of(cls, sample: Sample) -> Self:
        """Where less is better, what is wrong counts as right."""
        table, pairs = sample.tables[0], sample.part.pairs.T
        right, items = table.sum(axis=1).T
        right = right if sample.metrics[0].higher_is_better else items - right
        unlike = (table[pairs[0]] != table[pairs[1]]).any(axis=2).sum(axis=1)
        return cls(sample.part.recipe.design, right[pairs], items[pairs], unlike)

    def ends(self, alpha: Array | float) -> tuple[Array, Array]:
        (first, second), (n, m) = self.right, self.items
        if self.design == "paired":
            return intervals.bonett_price_interval(first - second, self.unlike, n, alpha)
        if self.design == "number":
            low, high = intervals.clopper_pearson(first, n, 1 - alpha)
            return low - second / m, high - second / m
        low, high = intervals.wilson_interval(self.right, self.items, alpha)
        both = np.stack([self.right / self.items, low, high])
        return intervals.newcombe_interval(both[:, 0], both[:, 1])

    def p(self, limit: float, side: int) -> Array:
        """(P,) the smallest tails whose intervals end beyond a limit, by bisection."""
        least, most = np.zeros(1), np.ones(1)
        for _ in range(HALVINGS):
            tail = (least + most) / 2
            low, high = self.ends(2 * tail)
            beyond = low >= limit if side > 0 else high <= limit
            least, most = np.where(beyond, least, tail), np.where(beyond, tail, most)
        return most

    def by_chance(self, i: int) -> tuple[Self, Array]:
        """What one pair may show where nothing differs, and how likely each of that is."""
        (first, second), (n, m) = self.right[:, i], self.items[:, i]
        if self.design == "unpaired":
            won, log_p = hypergeometric(int(n), int(m), int(first + second))
            others, chances = first + second - won, np.exp(log_p)
        else:
            paired = self.design == "paired"
            trials, share = (int(self.unlike[i]), 0.5) if paired else (int(n), second / m)
            won = np.arange(trials + 1)
            others = trials - won if paired else np.full(len(won), second)
            chances = bdtrc(won - 1, trials, share) - bdtrc(won, trials, share)
        likely = chances > UNLIKELY
        right, items = np.stack([won, others])[:, likely], self.items[:, [i]]
        return replace(self, right=right, items=items, unlike=self.unlike[[i]]), chances[likely]


Held = _Draws | _Shares


def _p_values(held: Held, margin: float | None, claim: Claim) -> tuple[Array, Array]:
    """(P,) p-values for passing, and against it."""
    if margin is None:  # two runs of one system pass unless they differ significantly
        p = np.minimum(1.0, 2 * np.minimum(held.p(0.0, 1), held.p(0.0, -1)))
        return p, p
    worse, better, fail = held.p(-margin, 1), held.p(margin, -1), held.p(-margin, -1)
    if claim == "not_worse":
        return worse, fail
    return np.maximum(worse, better), np.minimum(1.0, 2 * np.minimum(fail, held.p(margin, 1)))


def _power(held: Held, i: int, margin: float | None, claim: Claim, alpha: float) -> float:
    """How likely a system passes of all that a pair may show, each with a spread as seen there."""
    if margin is None and isinstance(held, _Draws):
        return 1 - alpha
    seen, chances = held.by_chance(i)
    p, _ = _p_values(seen, margin, claim)
    passed = p > alpha if margin is None else p <= alpha
    return float(np.average(passed, weights=chances))


def _outcome(claim: Claim, adjusted: float, failed: float, alpha: float) -> Outcome:
    if claim == "same":
        return "fail" if adjusted <= alpha else "pass"
    if adjusted <= alpha:
        return "pass"
    return "fail" if failed <= alpha else "undecided"
