"""What a report says in sentences: what pairs mean, how far to trust them, how they came about."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.plan import Part, Plan
from sigtest.data.names import is_error
from sigtest.decide.decisions import Limit
from sigtest.decide.facts import Facts
from sigtest.metrics import Metric
from sigtest.metrics.scores import ScoreMetric
from sigtest.report import Methods, PairReport, Report, Sources, WarningReport, counted, listed
from sigtest.requests.recipe import MAX_RESAMPLES, resamples_needed
from sigtest.significance import CORRECTIONS, TESTS, Alternative, swap_test, units_tests
from sigtest.significance.base import SMALLEST_P, SignificanceTest
from sigtest.significance.corrections import after, smallest_attainable
from sigtest.significance.resampling import SKEWED

FEW_UNITS = 300
SMALL_STRATUM = 20  # below, a stratum hides more than 5 % of its variance
UNEQUAL = 2.0  # largest standard error of a difference over the median one
FEW_HOLD = 10  # units that are few, where they are at most a tenth of all


# What a pair's numbers mean ------------------------


def verdict(pair: PairReport, higher_is_better: bool, correction: str, comparisons: int) -> str:
    """One line: who is better and how sure, or what the test set could have shown.

    Args:
        pair: With p-values, decision and detectable differences.
        higher_is_better: False for error metrics.
        correction: Name of the correction.
        comparisons: Size of the family that was corrected.
    """
    unit, p, p_low = pair.metric, pair.p_adjusted, SMALLEST_P
    done = f"p = {p:#.2g}" if p > p_low else f"p < {p_low:.0e}"
    done += after(correction, comparisons)
    # decimals that show two significant digits of the standard error, one at least
    digits = max(1, -math.floor(math.log10(pair.stderr))) if pair.varies else 1
    difference = f"{pair.difference:+.{digits}f} {unit}"
    alike, unsure = f"{pair.a} and {pair.b} are not separated", ""
    if pair.claimed:
        side = "better" if pair.alternative == "greater" else "worse"
        alike = f"{pair.a} is not shown to be {side} than {pair.b}"
        unsure = f" (claim: {pair.a} is {side})"
    if pair.difference == 0 and not pair.varies:
        return f"{pair.a} and {pair.b} score the same {unit} on every resample"
    if pair.undecided:
        prospect = "more resamples could turn the decision round"
        if pair.resamples_needed is None:
            prospect = (
                f"p is so near to its limit that {MAX_RESAMPLES:,} resamples, the most that can be "
                "asked for, would likely not settle it"
            )
        return f"{pair.a} and {pair.b} are undecided{unsure}: {difference}, {done}; {prospect}"
    if not pair.significant and not pair.varies:
        return f"{alike}: {difference} on every resample, {done}"
    if not pair.significant:
        seen = f"{pair.detectable[1]:.{digits}f}"
        return f"{alike}: this test set would show a difference of {seen} {unit} with 80 % power"
    winner = pair.winner(higher_is_better)
    loser, sign = (pair.b, 1) if winner == pair.a else (pair.a, -1)
    low, high = sorted(sign * end for end in pair.ci)
    return (
        f"{winner} is better than {loser}: {sign * pair.difference:+.{digits}f} {unit} "
        f"[{low:.{digits}f}, {high:.{digits}f}], {done}"
    )


# What to be warned of ------------------------

# How sentences begin that deciding anew takes back or looks for.
FEW_RESAMPLES = " resamples are few for"
NOTHING = "The smallest p-value that "
UNITS = ("With only ", "There is one ")
JOINT = ("Tukey's correction holds its level", "max-T compares")


@dataclass(frozen=True)
class Doubtful:
    """A comparison that warnings may be about.

    Attributes:
        part: What is compared.
        facts: Of every metric.
        gone: How many comparisons are of systems that have left.
    """

    part: Part
    facts: Sequence[Facts]
    gone: int

    @property
    def tests(self) -> list[SignificanceTest]:
        """The significance tests."""
        return [TESTS[test] for test in self.part.recipe.tests]

    def warned(self, code: str, words: str, found: Sequence[Array], **about: Any) -> Warned:
        """A warning about those pairs of each metric that are above 0, if there are any.

        Args:
            code: Of the warning.
            words: Its sentence, which has a place for how many these are, and which is it most.
            found: (P,) of each metric.
            about: What else it is about.
        """
        names, alike = self.part.systems, dict[tuple[tuple[str, str], ...], dict[str, str]]()
        for label, values in zip(self.part.recipe.labels, found, strict=True):
            (above,) = np.nonzero(values)
            if len(above):
                named = tuple((names[a], names[b]) for a, b in self.part.pairs[above])
                a, b = named[int(values[above].argmax())]
                many = f"{len(above):,} of {counted(len(values), 'pair')}"
                alike.setdefault(named, {})[label] = f"in {label} for {many} (most: {a} and {b})"
        for pairs, of in alike.items():  # a program that reads it must not take one for another
            sentence = words.format(", ".join(of.values()))
            yield WarningReport(code, sentence, pairs=pairs, metrics=(*of,), **about)
            words = f"{words.partition('{}')[0]}{{}}, too."

    @property
    def drawing_error(self) -> float:
        """Three standard errors that a skewness of about 0 has from drawing."""
        return 3 * math.sqrt(6 / self.part.draws)


Warned = Iterator[WarningReport]


def _few_units(own: Doubtful) -> Warned:
    """Intervals and detectable differences are bootstrap ones, whatever tests were asked for.

    Those of shares are not.
    """
    part, unit = own.part, own.part.recipe.unit
    drawn = {"counts"} if part.spread_known else {"counts", "studentised"}
    tests = [test for test in own.tests if test.draws in drawn]
    several = len(tests) > 1
    if not part.spread_known:
        within = " in each stratum" if part.units > 1 else ""
        words = (
            f"{UNITS[1]}{unit}{within}, so that nothing says how scores vary: "
            "intervals, standard errors and detectable differences have no meaning"
        )
        call = "call" if several else "calls"
        further = f"{call} any difference significant."
    elif part.units < FEW_UNITS:
        intervals = set(part.recipe.labels) - set(part.shares)
        words = (
            f"{UNITS[0]}{part.units} {unit}{'' if part.units == 1 else 's'} (fewer than about "
            f"{FEW_UNITS}), {'intervals and ' * bool(intervals)}detectable "
            "differences, which come from the bootstrap, are somewhat too small"
        )
        reject = "reject" if several else "rejects"
        further = (
            f"{reject} true null hypotheses too often; approximate randomization keeps its level "
            "as long as the two systems' outputs are exchangeable."
        )
    else:
        return
    if tests:
        words = f"{words}, and {listed([test.words for test in tests])} {further}"
    sentence = words if tests else f"{words}."
    yield WarningReport("few-units", sentence, tests=tuple(test.name for test in tests))


def _small_strata(own: Doubtful) -> Warned:
    """A stratum of u units shows (u - 1) / u of its variance."""
    part = own.part
    smallest = SMALL_STRATUM if not part.recipe.stratified else int(np.bincount(part.strata).min())
    if smallest < SMALL_STRATUM:
        yield WarningReport(
            "small-strata",
            f"The smallest stratum has {counted(smallest, part.recipe.unit)}; where strata have "
            f"fewer than about {SMALL_STRATUM}, bootstrap intervals are too narrow and bootstrap "
            "p-values too small. Approximate randomization does not suffer from that.",
            tests=tuple(test.name for test in own.tests if test.draws == "counts"),
        )


def _gone(own: Doubtful) -> Warned:
    if own.gone:
        yield WarningReport(
            "systems-gone",
            f"{own.gone} comparison{'' if own.gone == 1 else 's'} with systems that were deleted "
            "or replaced stay in the family, so that no claim falls when a system leaves.",
        )


def _of_tests(own: Doubtful) -> Warned:
    for test in own.tests:
        if test.caution:
            yield WarningReport("test", test.caution, tests=(test.name,))


def _skewed(own: Doubtful) -> Warned:
    """Differences so skewed that equal expected scores are rejected at another rate than alpha."""
    if all(test.draws == "studentised" for test in own.tests):
        return
    # and two standard errors by the sample of units
    limit = SKEWED + math.hypot(own.drawing_error, 2 * math.sqrt(6) / own.part.units)
    skewness = [np.abs(known.difference_spread.skewness) for known in own.facts]
    yield from own.warned(
        "skewed",
        "Differences are skewed {}. Systems that differ in kind but not in expected score are then "
        "called different too often on one side; the bootstrap-t test (bootstrap_t) is the one for "
        "skewed differences.",
        [np.where(values > limit, values, 0.0) for values in skewness],
        # the null hypotheses of others say more than equal expected scores
        tests=tuple(test.name for test in own.tests if test.draws == "counts"),
    )


def _held_by_few(own: Doubtful) -> Warned:
    """Differences of which a few units hold most.

    Resamples draw k rare units of one kind about as often as Poisson's law says: they give the
    difference the skewness 1 / sqrt(k), and they hold standard error / skewness of it.
    """
    units, unit = own.part.units, own.part.recipe.unit
    limit = math.sqrt(max(1 / FEW_HOLD, 10 / units)) + own.drawing_error
    a, b = own.part.pairs.T
    held = []
    for known in own.facts:
        spread, difference = known.difference_spread, known.scores[a] - known.scores[b]
        towards = np.where(difference < 0, -spread.skewness, spread.skewness)
        most = np.abs(difference) * towards < 2 * spread.stderr
        held.append(np.where((difference != 0) & (towards > limit) & most, towards, 0.0))
    yield from own.warned(
        "held-by-few",
        f"A few {unit}s hold most of the difference {{}}. Failures that have not been seen "
        f"yet could turn it round: what {units:,} {unit}s do not show may still happen in up "
        f"to 3/{units:,} = {3 / units:.2g} of all {unit}s (rule of three, at 95 %).",
        held,
    )


def _dependent_segments(own: Doubtful) -> Warned:
    if own.part.dependent:
        yield WarningReport(
            "dependent-segments",
            "Segments of one document are not independent, which makes segment-level p-values too "
            'small; the documents are known and can be resampled instead (unit "document").',
        )


def _replicas(own: Doubtful) -> Warned:
    if own.part.replicas > 1:
        yield WarningReport(
            "replicas",
            f"p-values and intervals are about these {own.part.replicas} replicas of each system; "
            "training_stderr (training sd in tables) says how far the score of another training "
            "run may lie.",
        )


def _joint_correction(own: Doubtful) -> Warned:
    """What the two corrections that look at all pairs together cannot do."""
    recipe = own.part.recipe
    if recipe.correction == "tukey":
        yield WarningReport(
            "joint-correction",
            f"{JOINT[0]} only while all systems are exchangeable; as soon as some "
            "differ, the p-values of the others are not those of a valid test. Holm's needs no "
            "such assumption.",
        )
    for label, known in zip(recipe.labels, own.facts, strict=True):
        errors = known.difference_spread.stderr
        errors = errors[errors > 0]
        unequal = len(errors) and errors.max() > UNEQUAL * np.median(errors)
        if recipe.correction == "max_t" and unequal:
            yield WarningReport(
                "joint-correction",
                f"{JOINT[1]} unstudentised differences, and those of {label} vary very "
                f"unequally (standard errors from {errors.min():.3g} to {errors.max():.3g}): "
                "similar systems lose power; Holm's correction does not suffer from that.",
                metrics=(label,),
            )


def _identical_systems(own: Doubtful) -> Warned:
    alike = defaultdict(list)
    for name, digest in zip(own.part.systems, own.part.digests, strict=True):
        alike[digest].append(name)
    for names in alike.values():
        if len(names) > 1:
            sentence = f"Systems {', '.join(names)} are identical, segment by segment."
            yield WarningReport("identical-systems", sentence, tuple(names))


def _directions(own: Doubtful) -> Warned:
    """Numbers computed elsewhere that are called as error rates and taken for qualities."""
    recipe = own.part.recipe
    counts = [note.metrics for note in own.part.notes if note.code == "two-counts"]
    for label, metric, known in zip(recipe.labels, recipe.metrics, own.facts, strict=True):
        if (
            metric.implementation == "supplied"
            and metric.higher_is_better
            and is_error(label)
            and (label,) not in counts
            and known.scores.min(initial=0.0) >= 0
        ):
            yield WarningReport(
                "direction",
                f"{label} has the name of an error rate, and greater is read as better; where "
                f"lower is better, say so: {metric.name}:of={label},higher=false (in JSON, higher "
                "is false).",
                metrics=(label,),
            )


WARNED: tuple[Callable[[Doubtful], Iterable[WarningReport]], ...] = (  # in the order of reading
    _few_units,
    _small_strata,
    _gone,
    _of_tests,
    _skewed,
    _held_by_few,
    _dependent_segments,
    _replicas,
    _joint_correction,
    _identical_systems,
    _directions,
    lambda own: own.part.notes,
)


def warnings_of(part: Part, facts: Sequence[Facts], gone: int = 0) -> tuple[WarningReport, ...]:
    """Warnings for a comparison with these facts, however it is decided.

    Args:
        part: What is compared.
        facts: Of every metric.
        gone: How many comparisons are of systems that have left.
    """
    own = Doubtful(part, facts, gone)
    return tuple(warning for warned in WARNED for warning in warned(own))


def untestable(report: Report, limit: Limit, alternative: Alternative) -> dict[str, int]:
    """Tests that can find nothing, as exchanging so few units gives no significant p-value.

    Args:
        report: With p-values.
        limit: What these are held against.
        alternative: The claim.

    Returns:
        How many units could, by test; none where replicas are exchanged, too.
    """
    pairs = len({frozenset((pair.a, pair.b)) for pair in report.pairs})

    def passes(number: int) -> bool:
        return _least(limit, alternative, number, pairs)[1] <= limit.alpha

    by_signs = [test for test in report.tests if TESTS[test].by_signs]
    if not by_signs or "|replicas:" in report.signature or passes(_units(report)):
        return {}
    return dict.fromkeys(by_signs, next(n for n in count(_units(report)) if passes(n)))


def _units(report: Report) -> int:
    size = report.testset
    return size.segments if report.unit == "segment" else size.documents or 0


def _least(limit: Limit, alternative: Alternative, units: int, pairs: int) -> tuple[float, float]:
    """The smallest p-value of exchanges of so many units, and the same corrected.

    Of two one-sided claims on a pair only one can be as extreme.
    """
    least = min(1.0, (2 if alternative == "two-sided" else 1) * 0.5**units)
    return least, smallest_attainable(limit.correction, pairs, least, limit.family)


def decided_warnings(
    report: Report, limit: Limit, alternative: Alternative, resamples: int
) -> tuple[WarningReport, ...]:
    """The warnings of a report that is decided, perhaps anew: those that hold, and what follows.

    Args:
        report: With those of its facts, or of another decision.
        limit: What decides now.
        alternative: The claim.
        resamples: R.
    """
    correction, fixed = CORRECTIONS[limit.correction], report.family is not None
    joint = JOINT if correction.joint is None else ()
    outdated = (f"{resamples:,}{FEW_RESAMPLES}", NOTHING, *joint)
    held = [own for own in report.warnings if not own.message.startswith(outdated)]
    place = sum(own.message.startswith(UNITS) for own in held)
    held[place:place] = _nothing_to_find(report, limit, alternative)
    sides = max(TESTS[test].sides(alternative) for test in report.tests)
    needed = resamples_needed(correction, limit.alpha, sides, limit.family, fixed)
    drawn = [pair for pair in report.pairs if TESTS[pair.test].draws != "none"]
    exact = correction.joint is None and all(pair.exact for pair in drawn)
    if resamples < needed and not exact:
        words = (
            f"{resamples:,}{FEW_RESAMPLES} {counted(limit.family, 'comparison')} at "
            f"alpha {limit.alpha} with {correction.title}: "
            f"use {needed:,} for corrected p-values that can fall well below alpha."
        )
        held.insert(0, WarningReport("few-resamples", words))
    return tuple(held)


def _nothing_to_find(report: Report, limit: Limit, alternative: Alternative) -> Warned:
    """So few units that exchanging them can never give a significant p-value."""
    found = untestable(report, limit, alternative)
    if not found:
        return
    units, unit = _units(report), report.unit
    pairs = len({frozenset((pair.a, pair.b)) for pair in report.pairs})
    least, corrected = _least(limit, alternative, units, pairs)
    then = f", {corrected:.2g} after correction" if corrected > least else ""
    yield WarningReport(
        "nothing-to-find",
        f"{NOTHING}{units} {unit}{'' if units == 1 else 's'} can give in "
        f"{listed([TESTS[test].words for test in found])} is {least:.2g}{then}, above alpha: "
        f"{'they' if len(found) > 1 else 'it'} cannot find a difference here, whatever the "
        f"detectable differences say; {max(found.values())} {unit}s could.",
        tests=tuple(found),
    )


def warnings_of_several(testsets: int, alternative: str, alpha: float) -> tuple[WarningReport, ...]:
    """What a reader of counts over few test sets should know."""
    least = (2 if alternative == "two-sided" else 1) * 0.5**testsets
    if least <= alpha:
        return ()
    sentence = (
        f"The smallest p-value that {testsets} test sets can give in the sign test and the "
        f"signed-rank test is {least:g}, above alpha: neither can find a difference here."
    )
    return (WarningReport("few-testsets", sentence, tests=("sign_test", "signed_rank")),)


# What a paper says of how the numbers came about ------------------------

CLAIMS = {
    "two-sided": "two-sided",
    "greater": "one-sided with the claim that the first system of a pair is better",
    "less": "one-sided with the claim that the first system of a pair is worse",
}
INTERVALS = {
    "percentile": ("efron-tibshirani-1993-introduction", "koehn-2004-statistical"),
    "bootstrap_t": ("hall-1988-theoretical", "davison-hinkley-1997-bootstrap"),
}
ENUMERATED = ("riezler-maxwell-2005-pitfalls", "zmigrod-etal-2022-exact")


def methods_of(plan: Plan, pairs: Sequence[PairReport], best: bool) -> Methods:
    """What a paper says of a comparison.

    Args:
        plan: What was compared.
        pairs: What came out, which says where p-values are exact.
        best: Whether systems are compared with the best.
    """
    sources, recipe = Sources(), plan.recipe
    named = zip(recipe.labels, recipe.metrics, strict=True)
    metrics = listed([_metric(*both, plan.parts[0], sources) for both in named])
    sentences = [_data(plan), f"We report {metrics}."]
    if pairs:
        sentences += [_tests(plan, sources), *_p_values(plan, pairs, sources)]
        limit = Limit(recipe.correction, recipe.alpha, plan.comparisons)
        systems = None if recipe.family == "present" else recipe.family
        sentences.append(_decisions(limit, systems, sources))
        if not recipe.baselines:
            cited = sources.cite("mogstad-etal-2024-inference")
            sentences.append(f"Ranges of ranks follow from all decisions together{cited}.")
            if best:
                cited = sources.cite("hsu-1984-constrained")
                sentences.append(
                    "Which systems may be the best was tested by comparisons with the best on "
                    f"bootstrap resamples{cited}."
                )
    level, kind = f"{round(100 * (1 - recipe.alpha), 6):g}", recipe.interval.replace("_", "-")
    shares = sorted({label for part in plan.parts for label in part.shares})
    if plan.names or shares != sorted(recipe.labels):
        drawn = f"{plan.parts[0].draws:,} bootstrap resamples"
        cited = sources.cite(*INTERVALS[recipe.interval])
        sentences.append(f"Intervals are {level} % {kind} intervals of {drawn}{cited}.")
    if shares:
        differences, key = "adjusted Wald", "bonett-price-2012-adjusted"
        if recipe.design != "paired":
            differences, key = "score", "newcombe-1998-interval"
        cited = sources.cite("wilson-1927-probable", key)
        sentences.append(
            f"{level} % intervals of shares of segments ({listed(shares)}) are score intervals, "
            f"and those of their differences {differences} intervals{cited}."
        )
    return sources.methods(sentences)


def _data(plan: Plan) -> str:
    """Sizes of the test sets, and how several are put together."""

    def size(part: Part) -> str:
        counts = {"document": part.document_count, "reference": part.references}
        known = [counted(count, noun) for noun, count in counts.items() if count]
        return listed([counted(part.segments, "segment"), *known])

    compared = len(plan.systems) - (plan.recipe.bar is not None)
    runs, systems = plan.parts[0].replicas, counted(compared, "system")
    of = f", each with the outputs of {runs} training runs," if runs > 1 else ""
    if not plan.names:
        return f"We evaluated {systems}{of} on {size(plan.parts[0])}."
    sets = [f"{name} ({size(part)})" for name, part in zip(plan.names, plan.parts, strict=True)]
    whole = "one test set" if plan.pooled else "means over the test sets"
    scores = f"scores of all together are those of {whole}"
    return f"We evaluated {systems}{of} on {listed(sets)}; {scores}."


def _metric(label: str, metric: Metric, part: Part, sources: Sources) -> str:
    if isinstance(metric, ScoreMetric):
        return f"{label}, the {metric.title}{sources.cite(*metric.papers)}"
    cited = sources.cite(*metric.papers)
    return f"{metric.title or label}{cited} with signature {metric.signature(part.references)}"


def _tests(plan: Plan, sources: Sources) -> str:
    """Which tests, on what units, against which alternative, and what each takes for granted."""
    recipe, part = plan.recipe, plan.parts[0]
    tests = [TESTS[name] for name in recipe.tests]
    named = [f"{test.words}{sources.cite(*test.papers)}" for test in tests]
    which = "all pairs of systems"
    if recipe.baselines:
        which = f"every system and {listed(recipe.baselines)}"
    resampled = any(test.draws != "none" for test in tests)
    drawn = f", with {part.resamples:,} resamples (seed {recipe.seed})" if resampled else ""
    orders = ", each in both orders," if recipe.both_claims else ""
    strata = " within the segments of each label" if recipe.stratified else ""
    why = ", as segments of one document are not independent" * (recipe.unit == "document")
    strata += ", and each system has its own" if recipe.unpaired else ""
    runs = f"{recipe.unit} with all its training runs" if part.replicas > 1 else recipe.unit
    if part.replicas > 1 and swap_test(recipe.tests):
        strata += f", that of exchange the {recipe.unit} of one training run"
    if own := [test.words for test in units_tests(recipe.tests).values() if test.by_word]:
        strata += f", that of {listed(own)} a stretch between words that both systems have right"
    drawn_in = ""
    if recipe.alternative != "two-sided" and any(test.draws == "studentised" for test in tests):
        drawn_in = (
            " As one-sided claims err under heavy tails, the studentised difference is drawn in by "
            f"the term of second order{sources.cite('hall-1988-theoretical')}."
        )
    nulls: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        nulls[test.null].append(test.words)
    granted = f"The null hypothesis is that of {next(iter(nulls))}."
    if len(nulls) > 1:
        each = listed([f"{null} ({listed(own)})" for null, own in nulls.items()])
        granted = f"The null hypotheses are those of {each}."
    return (
        f"Differences between {which}{orders} were tested by {listed(named)}, "
        f"{CLAIMS[recipe.alternative]}{drawn}; "
        f"the unit of inference is the {runs}{strata}{why}.{drawn_in} {granted}"
    )


def _p_values(plan: Plan, pairs: Sequence[PairReport], sources: Sources) -> Iterator[str]:
    """How p-values follow from draws, where some do."""
    drawn = [TESTS[name] for name in plan.recipe.tests if TESTS[name].draws != "none"]
    exact = {pair.exact for pair in pairs if TESTS[pair.test].draws != "none"}
    if False in exact:
        cited = sources.cite("phipson-smyth-2010-permutation")
        doubled = [test.words for test in drawn if test.sides(plan.recipe.alternative) > 1]
        twice = f", twice that for {listed(doubled)}" if doubled else ""
        yield f"Estimated p-values are (count + 1) / (resamples + 1){cited}{twice}."
    if True in exact:
        whole = all(pair.exact for pair in pairs)
        where = "All p-values are" if whole else "Where the report says so, p-values are"
        cited = sources.cite(*ENUMERATED)
        yield f"{where} exact: every exchange of two systems' outputs counts{cited}."


def _decisions(limit: Limit, systems: int | None, sources: Sources) -> str:
    """What is called significant; `systems` says how many there may be, where some may come."""
    correction = CORRECTIONS[limit.correction]
    called = f"a difference is called significant where that p is at most {limit.alpha:g}"
    if limit.correction == "none":
        return f"P-values are not corrected for multiple comparisons; {called}."
    if limit.family == 1:
        return f"One comparison per metric and test needs no correction; {called}."
    coming = f", those of {systems} systems, of which some may come later," if systems else ""
    return (
        f"P-values are corrected for {limit.family:,} comparisons per metric and test{coming} "
        f"by the method of {correction.title}{sources.cite(*correction.papers)}; {called}."
    )


def decided_anew(methods: Methods, old: Limit, new: Limit, systems: int | None) -> Methods | None:
    """The same methods with other decisions; nothing where the sentence about these is not there.

    Args:
        methods: Of a report.
        old: How it was decided.
        new: How it is decided now.
        systems: How many there may be, where some may come later.
    """
    before, now = Sources(), Sources()
    sentence, other = _decisions(old, systems, before), _decisions(new, systems, now)
    if sentence not in methods.text:
        return None
    text = methods.text.replace(sentence, other)
    known = {own.key: own for own in methods.references} | now.cited
    cited = [own for own in known.values() if own.cited in text]
    return Methods(text, tuple(sorted(cited, key=lambda own: text.index(own.cited))))
