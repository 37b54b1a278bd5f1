"""The sentences a report says about how far it can be trusted."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.plan import Part
from sigtest.comparison.proportions import TWO_COUNTS
from sigtest.data.names import is_error
from sigtest.decide.decisions import Limit
from sigtest.decide.facts import Facts
from sigtest.report.methods import listed
from sigtest.significance import CORRECTIONS, TESTS, SignificanceTest, swap_test
from sigtest.significance.bootstrap import SKEWED
from sigtest.significance.levels import smallest_attainable

FEW_RESAMPLES = " resamples are few for"
NOTHING = "The smallest p-value that "
UNITS = ("With only ", "There is one ")  # how sentences on few units begin
JOINT = (
    "Tukey's correction holds its level",
    "max-T compares",
)  # how sentences on joint corrections begin
FEW_UNITS = 300
SMALL_STRATUM = 20  # below, a stratum hides more than 5 % of its variance
UNEQUAL = 2.0  # largest standard error of a difference over the median one
FEW_HOLD = 10  # units that are few, where they are at most a tenth of all


def warnings_of(
    part: Part, facts: Sequence[Facts], comparisons: int, gone: int = 0
) -> tuple[str, ...]:
    """Warnings for a comparison with these facts.

    Args:
        part: What is compared.
        facts: Of every metric.
        comparisons: Size of a family.
        gone: How many of these are of systems that have left.
    """
    recipe = part.recipe
    said = [
        _too_few_resamples(part, facts, comparisons),
        _few_units(part),
        nothing_to_find(
            recipe.tests if part.replicas == 1 else (),
            recipe.alternative,
            (part.units, recipe.unit),
            len(part.pairs) // (2 if recipe.both_claims else 1),
            Limit(recipe.correction, recipe.alpha, max(len(part.pairs), comparisons)),
        ),
        _small_strata(part),
    ]
    if gone:
        said.append(
            f"{gone} comparison{'' if gone == 1 else 's'} with systems that were deleted or "
            "replaced stay in the family, so that no claim falls when a system leaves."
        )
    said += [test.caution for test in _tests(part)]
    said += _skewed(part, facts)
    said += _held_by_few(part, facts)
    if recipe.unit == "segment" and part.documents is not None:
        said.append(
            "Segments of one document are not independent, which makes segment-level p-values too "
            'small; the documents are known and can be resampled instead (unit "document").'
        )
    if part.replicas > 1:
        said.append(
            f"p-values and intervals are about these {part.replicas} replicas of each system; "
            "training_stderr (training sd in tables) says how far the score of another training "
            "run may lie."
        )
    said += _joint_correction(part, facts)
    said += _identical_systems(part)
    said += _directions(part, facts)
    said += part.notes
    return tuple(sentence for sentence in said if sentence)


def warnings_of_several(testsets: int, alternative: str, alpha: float) -> tuple[str, ...]:
    """What a reader of counts over few test sets should know."""
    sides = 2 if alternative == "two-sided" else 1
    least = sides * 0.5**testsets
    if least <= alpha:
        return ()
    return (
        f"The smallest p-value that {testsets} test sets can give in the sign test and the "
        f"signed-rank test is {least:g}, above alpha: neither can find a difference here.",
    )


def _tests(part: Part) -> list[SignificanceTest]:
    return [TESTS[test] for test in part.recipe.tests]


def _too_few_resamples(part: Part, facts: Sequence[Facts], comparisons: int) -> str | None:
    pairs = len(part.pairs)
    needed = part.recipe.needed(pairs, max(1, comparisons // part.recipe.comparisons(pairs)))
    if part.resamples >= needed or _all_exact(part, facts):
        return None
    limit = Limit(part.recipe.correction, part.recipe.alpha, comparisons)
    return few_resamples(part.resamples, needed, limit)


def few_resamples(resamples: int, needed: int, limit: Limit) -> str:
    """What to say where more resamples are needed than there were."""
    of = f"{limit.family:,} comparison{'' if limit.family == 1 else 's'}"
    return (
        f"{resamples:,}{FEW_RESAMPLES} {of} at "
        f"alpha {limit.alpha} with "
        f"{CORRECTIONS[limit.correction].title}: "
        f"use {needed:,} for corrected p-values that can fall well below alpha."
    )


def _all_exact(part: Part, facts: Sequence[Facts]) -> bool:
    """Whether no p-value, corrected or not, depends on the number of resamples."""
    drawn = {test.draws for test in _tests(part)}
    return (
        not drawn & {"counts", "studentised"}
        and CORRECTIONS[part.recipe.correction].joint is None
        and ("swaps" not in drawn or all(p is not None for known in facts for p in known.exact))
    )


def _few_units(part: Part) -> str | None:
    """Intervals and detectable differences are bootstrap ones, whatever tests were asked for."""
    units = part.units
    if not part.spread_known:
        return _no_spread(part)
    if units >= FEW_UNITS:
        return None
    said = (
        f"{UNITS[0]}{units} {part.recipe.unit}{'' if units == 1 else 's'} (fewer than about "
        f"{FEW_UNITS}), intervals and detectable "
        "differences, which come from the bootstrap, are somewhat too small"
    )
    bootstraps = [test.words for test in _tests(part) if test.draws == "counts"]
    if not bootstraps:
        return f"{said}."
    reject = "reject" if len(bootstraps) > 1 else "rejects"
    return (
        f"{said}, and {listed(bootstraps)} {reject} true null hypotheses too often; "
        "approximate randomization keeps its level as long as the two systems' outputs are "
        "exchangeable."
    )


def _no_spread(part: Part) -> str:
    """What resamples that are all alike are worth."""
    within = " in each stratum" if part.units > 1 else ""
    said = (
        f"{UNITS[1]}{part.recipe.unit}{within}, so that nothing says how scores vary: "
        "intervals, standard errors and detectable differences have no meaning"
    )
    bootstraps = [test.words for test in _tests(part) if test.draws in {"counts", "studentised"}]
    if not bootstraps:
        return f"{said}."
    call = "call" if len(bootstraps) > 1 else "calls"
    return f"{said}, and {listed(bootstraps)} {call} any difference significant."


def nothing_to_find(
    tests: Sequence[str], alternative: str, units: tuple[int, str], pairs: int, limit: Limit
) -> str | None:
    """So few units that exchanging them can never give a significant p-value.

    Args:
        tests: Names; none where replicas are exchanged, too.
        alternative: The claim.
        units: How many, and what one is called.
        pairs: Of systems; of two one-sided claims on a pair only one can be as extreme.
        limit: What p-values are held against.
    """
    (count, unit), test = units, swap_test(tests)
    if test is None or not pairs:
        return None
    least = min(1.0, (2 if alternative == "two-sided" else 1) * 0.5**count)
    corrected = smallest_attainable(limit.correction, pairs, least, limit.family)
    if corrected <= limit.alpha:
        return None
    after = f", {corrected:.2g} after correction" if corrected > least else ""
    return (
        f"{NOTHING}{count} {unit}{'' if count == 1 else 's'} can give in "
        f"{test.words} is {least:.2g}{after}, above alpha: it cannot find a difference here, "
        "whatever the detectable differences say."
    )


def _skewed(part: Part, facts: Sequence[Facts]) -> list[str]:
    """Differences so skewed that equal expected scores are rejected at another rate than alpha."""
    if all(test.draws == "studentised" for test in _tests(part)):
        return []
    # and two standard errors by the sample of units
    limit = SKEWED + math.hypot(_drawing_error(part), 2 * math.sqrt(6) / part.units)
    skewness = [np.abs(known.difference_spread.skewness) for known in facts]
    found = _pairs_above(part, [np.where(own > limit, own, 0.0) for own in skewness])
    if not found:
        return []
    return [
        f"Differences are skewed {found}. Systems that differ in kind but not in "
        "expected score are then called different too often on one side; the bootstrap-t "
        "test (bootstrap_t) is the one for skewed differences."
    ]


def _held_by_few(part: Part, facts: Sequence[Facts]) -> list[str]:
    """Differences of which a few units hold most.

    Resamples draw k rare units of one kind about as often as Poisson's law says: they give the
    difference the skewness 1 / sqrt(k), and they hold standard error / skewness of it.
    """
    units, unit = part.units, part.recipe.unit
    limit = math.sqrt(max(1 / FEW_HOLD, 10 / units)) + _drawing_error(part)
    a, b = part.pairs.T
    held = []
    for known in facts:
        spread, difference = known.difference_spread, known.scores[a] - known.scores[b]
        towards = np.where(difference < 0, -spread.skewness, spread.skewness)
        most = np.abs(difference) * towards < 2 * spread.stderr
        held.append(np.where((difference != 0) & (towards > limit) & most, towards, 0.0))
    found = _pairs_above(part, held)
    if not found:
        return []
    return [
        f"A few {unit}s hold most of the difference {found}. Failures that have not been seen yet "
        f"could turn it round: what {units:,} {unit}s do not show may still happen in up to "
        f"3/{units:,} = {3 / units:.2g} of all {unit}s (rule of three, at 95 %)."
    ]


def _drawing_error(part: Part) -> float:
    """Three standard errors that a skewness of about 0 has from drawing."""
    return 3 * math.sqrt(6 / part.resamples)


def _pairs_above(part: Part, found: Sequence[Array]) -> str:
    """Of how many pairs a warning is, by metric, and of which most: those above 0."""
    said = []
    for label, values in zip(part.recipe.labels, found, strict=True):
        above = int(np.count_nonzero(values))
        if above:
            a, b = (part.systems[s] for s in part.pairs[int(values.argmax())])
            pairs = f"{above:,} of {len(values):,} pair{'' if len(values) == 1 else 's'}"
            said.append(f"in {label} for {pairs} (most: {a} and {b})")
    return ", ".join(said)


def _small_strata(part: Part) -> str | None:
    """A stratum of u units shows (u - 1) / u of its variance."""
    if part.labels is None:
        return None
    smallest = int(np.bincount(part.strata).min())
    if smallest >= SMALL_STRATUM:
        return None
    unit = part.recipe.unit
    return (
        f"The smallest stratum has {smallest} {unit}{'' if smallest == 1 else 's'}; where strata "
        f"have fewer than about {SMALL_STRATUM}, bootstrap intervals are too narrow and bootstrap "
        "p-values too small. Approximate randomization does not suffer from that."
    )


def _identical_systems(part: Part) -> list[str]:
    names = defaultdict(list)
    for name, digest in zip(part.systems, part.digests, strict=True):
        names[digest].append(name)
    return [
        f"Systems {', '.join(same)} are identical, segment by segment."
        for same in names.values()
        if len(same) > 1
    ]


def _directions(part: Part, facts: Sequence[Facts]) -> list[str]:
    """Numbers computed elsewhere that are called as error rates and taken for qualities."""
    recipe = part.recipe
    return [
        f"{label} has the name of an error rate, and greater is read as better; where lower is "
        f"better, say so: {metric.name}:of={label},higher=false (in JSON, higher is false)."
        for metric, label, known in zip(recipe.metrics, recipe.labels, facts, strict=True)
        if metric.implementation == "supplied"
        and metric.higher_is_better
        and is_error(label)
        and not any(note.startswith(f"{label}{TWO_COUNTS}") for note in part.notes)
        and known.scores.min(initial=0.0) >= 0
    ]


def _joint_correction(part: Part, facts: Sequence[Facts]) -> list[str]:
    """What the two corrections that look at all pairs together cannot do."""
    if part.recipe.correction == "tukey":
        return [
            f"{JOINT[0]} only while all systems are exchangeable; as soon as some "
            "differ, the p-values of the others are not those of a valid test. Holm's needs no "
            "such assumption."
        ]
    if part.recipe.correction != "max_t":
        return []
    said = []
    for label, known in zip(part.recipe.labels, facts, strict=True):
        errors = known.difference_spread.stderr
        errors = errors[errors > 0]
        if len(errors) and errors.max() > UNEQUAL * np.median(errors):
            said.append(
                f"{JOINT[1]} unstudentised differences, and those of {label} vary very "
                f"unequally (standard errors from {errors.min():.3g} to {errors.max():.3g}): "
                "similar systems lose power; Holm's correction does not suffer from that."
            )
    return said
