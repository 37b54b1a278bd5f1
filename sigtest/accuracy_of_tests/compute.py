"""From p-values of tests and of people to the report."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, product
from typing import Annotated, Any

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.comparison.comparison import Comparison, StoredComparison, parse_named
from sigtest.data.names import choose
from sigtest.draws.sample import Samples
from sigtest.engine import drawn, measure_all, reduce
from sigtest.errors import InputError, RecipeError, inside
from sigtest.kinds.base import About, WholeQuestion
from sigtest.kinds.comparisons import ComparisonQuestion
from sigtest.kinds.renderable import Renderable
from sigtest.meta_evaluation.question import left_out
from sigtest.people.compute import compute as evaluate
from sigtest.people.question import HumanQuestion, check_segments, evaluation_in, match_systems
from sigtest.progress import Progress, silent
from sigtest.report import ByClass, Methods, Sources, WarningReport, Warnings, listed, with_methods
from sigtest.requests.people import AccuracyRequest, JudgedPairsRequest, TestedPairsRequest
from sigtest.significance import TESTS, Alternative
from sigtest.significance.base import ResamplingTest
from sigtest.significance.intervals import LEVEL, clopper_pearson
from sigtest.special import betainc, gammaincc
from sigtest.version import __version__

NEEDED = {  # of a request
    "human": 'judgements, p-values by pair, or {"id": ID} of a finished human evaluation',
    "comparison": "references and outputs, p-values by pair, or "
    '{"id": ID} of a finished comparison',
}
DECIDED = ("alternative", "correction", "alpha")  # which accuracy of tests decides itself
COMBINED = "combined"

Directions = tuple[float, float]  # p_greater, p_less
Pairs = Sequence[tuple[str, str]]
ByPair = dict[tuple[str, str], Directions]
ByCriterion = dict[str, ByPair]
Files = Sequence[tuple[str, bytes]]


@dataclass(frozen=True)
class Judged:
    """What people say of all pairs of systems.

    Attributes:
        criteria: In the order in which they decide.
        p_greater: (C, P) one-sided p-values of the first system being better.
        p_less: (C, P) of the second.
        notes: What the report should warn of.
        signature: How they came about.
    """

    criteria: tuple[str, ...]
    p_greater: Array
    p_less: Array
    notes: Warnings = ()
    signature: str = "p-values:given"


@dataclass(frozen=True)
class Tested:
    """What significance tests say of all pairs of systems, by several metrics.

    Attributes:
        systems: Names.
        pairs: (P,) names of the two systems of each pair.
        metrics: Labels, M.
        tests: Names, T.
        p_greater: (M, T, P) one-sided p-values of the first system being better.
        p_less: (M, T, P) of the second.
        signature: How they came about.
    """

    systems: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    metrics: tuple[str, ...]
    tests: tuple[str, ...]
    p_greater: Array
    p_less: Array
    signature: str

    def by_name(self, p: Array, pair: int) -> dict[str, dict[str, float]]:
        """P-values of a pair by metric, then test."""
        return {
            metric: {test: float(p[m, t, pair]) for t, test in enumerate(self.tests)}
            for m, metric in enumerate(self.metrics)
        }


@dataclass(frozen=True)
class AccuracyQuestion(WholeQuestion):
    """Tests held against people, validated when parsed.

    Attributes:
        people: P-values of people, for the pairs of the comparison in their order; or judgements
            that they are to come from.
        comparison: What to compare; or p-values that were computed elsewhere.
        alphas: Levels of the tests.
        human_alpha: Level of the conclusions of people; that of the tests where there is none.
        notes: What the report should warn of.
    """

    noun = "accuracy"

    people: Annotated[Judged | HumanQuestion, ByClass({"Asked": HumanQuestion})]
    comparison: Annotated[StoredComparison | Tested, ByClass()]
    alphas: tuple[float, ...]
    human_alpha: float | None
    notes: Warnings = ()

    @property
    def about(self) -> About:
        """What is compared."""
        compared = self.comparison
        if isinstance(compared, Comparison):
            return ComparisonQuestion(compared).about
        return About(compared.systems, compared.metrics, compared.tests)

    @property
    def seconds(self) -> float:
        """The comparison for two claims, and what people say."""
        if isinstance(self.comparison, Comparison):
            return 0.2 + 2 * ComparisonQuestion(self.comparison).seconds
        return 0.2


# Requests ------------------------


def parse(request: Mapping[str, Any], files: Files = ()) -> AccuracyQuestion:
    """Validate a request completely.

    Args:
        request: `human`, a request of /human-evaluations, or `pairs` with p-values by criterion
            (those of a human evaluation's report), or an `evaluation` that was parsed;
            `comparison`, a request of /comparisons on one test set, or `pairs` with p-values of
            their own, or one that was parsed, as its `id`; `alphas` and `human_alpha`.
        files: Name and bytes of each file of judgements, where they are not in the request.

    Raises:
        SigtestError: Something is missing, unknown, out of range, or does not fit the rest; a
            system that only one side has.
    """
    wanted = AccuracyRequest.of(request)
    compared = _compared(_object(wanted, "comparison"))
    if isinstance(compared, Tested):
        systems, pairs = compared.systems, compared.pairs
    else:
        systems = compared.plan.systems
        pairs = tuple((systems[a], systems[b]) for a, b in compared.plan.pairs.tolist())
    human = wanted.human or {} if files else _object(wanted, "human")
    if not isinstance(human, Mapping):
        raise InputError("human must be an object.", field="human")
    notes: list[WarningReport] = []
    people: Judged | HumanQuestion | None = evaluation_in(human, files)
    if isinstance(people, HumanQuestion):
        match_systems(people.systems, systems, people.choices.aliases)
        if isinstance(compared, Comparison):
            with inside("human"):
                size = compared.entries[0].testset.segments
                names = people.judgements.segment.names
                notes += [WarningReport("reading", own) for own in check_segments(names, size)]
    else:
        people = _judged_pairs(human, systems, pairs)
    unused = [name for name in DECIDED if name in wanted.comparison]
    if unused:
        sentence = (
            f"Not used of the comparison: {', '.join(unused)}. Both one-sided claims are tested at "
            "each of the alphas, without correction."
        )
        notes.append(WarningReport("unused", sentence))
    return AccuracyQuestion(people, compared, wanted.alphas, wanted.human_alpha, tuple(notes))


def _object(wanted: AccuracyRequest, field: str) -> Mapping[str, Any]:
    value = getattr(wanted, field)
    if not isinstance(value, Mapping) or not value:
        raise InputError(f"{field} must be an object: {NEEDED[field]}.", field=field)
    return value


def _compared(body: Mapping[str, Any]) -> Comparison | Tested:
    """A comparison whose claims are one-sided, or p-values that were computed elsewhere."""
    if set(body) == {"pairs"} and isinstance(body["pairs"], list | tuple):
        return _tested(body)
    comparison = parse_named(body, "Accuracy of tests")
    for test in comparison.recipe.tests:
        kind = TESTS[test]
        if isinstance(kind, ResamplingTest) and not kind.directed:
            raise RecipeError(
                f"{test} has no direction, so that it cannot say which system is better.",
                field="comparison.tests",
            )
    recipe = comparison.recipe.but(alternative="two-sided", correction="none", alpha=0.05)
    return replace(comparison, recipe=recipe)


def _tested(body: Mapping[str, Any]) -> Tested:
    """P-values by pair, metric and test, of which none may be missing."""
    path = "comparison.pairs"
    p_values: dict[tuple[str, str], ByPair] = {}
    for row in TestedPairsRequest.of(body, place="comparison").pairs:
        p_values.setdefault((row.metric, row.test), {})[row.a, row.b] = row.p_greater, row.p_less
    metrics, tests = (tuple(dict.fromkeys(names)) for names in zip(*p_values, strict=True))
    pairs = tuple(dict.fromkeys(pair for by_pair in p_values.values() for pair in by_pair))
    p = np.empty((2, len(metrics), len(tests), len(pairs)))
    for (k, pair), (m, metric), (t, test) in product(*map(enumerate, (pairs, metrics, tests))):
        directions = p_values.get((metric, test), {}).get(pair)
        if directions is None:
            a, b = pair
            raise InputError(
                f"{path}: {a} and {b} have no p-values for {metric} and {test}.", field=path
            )
        p[:, m, t, k] = directions
    systems = tuple(dict.fromkeys(name for pair in pairs for name in pair))
    return Tested(systems, pairs, metrics, tests, p[0], p[1], "p-values:given")


def judge_pairs(question: HumanQuestion, systems: Sequence[str], pairs: Pairs) -> Judged:
    """P-values of people for the pairs of a comparison, from judgements."""
    report = evaluate(question)
    found, aliases = _by_criterion(report.pairs), question.choices.aliases
    judged = _by_pair(found, report.criteria, aliases, systems, pairs)
    notes = (*judged.notes, *report.warnings)
    return replace(judged, notes=notes, signature=report.signature)


def _by_criterion(rows: Sequence[Any]) -> ByCriterion:
    """P-values by criterion; those of the combination only where they stand alone."""
    found: ByCriterion = {}
    for row in rows:
        found.setdefault(row.criterion, {})[row.a, row.b] = row.p_greater, row.p_less
    if len(found) > 1:
        found.pop(COMBINED, None)
    return found


def _judged_pairs(body: Mapping[str, Any], systems: Sequence[str], pairs: Pairs) -> Judged:
    """P-values of people that stand in the request; combined ones are found at every level."""
    fields = JudgedPairsRequest.of(body, place="human")
    found = _by_criterion(fields.pairs)
    named = [name for name in fields.criteria if name != COMBINED]
    criteria = [choose(name, list(found), "human.criteria", "criterion") for name in named]
    if fields.criteria and not criteria:
        raise InputError("human.criteria must name at least one.", field="human.criteria")
    return _by_pair(found, criteria or list(found), fields.aliases, systems, pairs)


def _by_pair(
    found: ByCriterion,
    criteria: Sequence[str],
    aliases: Mapping[str, str],
    systems: Sequence[str],
    pairs: Pairs,
) -> Judged:
    """P-values in the order of the pairs of the comparison."""
    judged = dict.fromkeys(n for by_pair in found.values() for pair in by_pair for n in pair)
    matched = match_systems(list(judged), systems, aliases)
    judged_as = {elsewhere: name for name, elsewhere in matched.outputs.items()}
    p = np.empty((2, len(criteria), len(pairs)))
    for (c, criterion), (k, (a, b)) in product(enumerate(criteria), enumerate(pairs)):
        first, second = judged_as[a], judged_as[b]
        turned = found[criterion].get((second, first), ())[::-1]
        directions = found[criterion].get((first, second), turned)
        if not directions:
            raise InputError(
                f"human.pairs: people did not compare {first} and {second} ({criterion}).",
                field="human.pairs",
            )
        p[:, c, k] = directions
    notes = left_out(matched.references, "outputs")
    return Judged(tuple(criteria), p[0], p[1], notes)


# The report ------------------------

# The report ------------------------


@dataclass(frozen=True)
class AccuracyRow:
    """One metric, significance test and level: conclusions compared with those of people.

    A conclusion is that a is better, that b is, or neither (a tie).

    Attributes:
        metric: Label of the metric.
        test: Name of the significance test.
        alpha: Level of both one-sided tests.
        correct: Pairs with the conclusion of people.
        n: Pairs.
        share: correct / n.
        ci: 95 % Clopper-Pearson interval of the share, as if pairs were independent.
        reversed: Pairs where the test and people see different winners.
        claimed: Pairs where the test sees a winner and people none.
        missed: Pairs where people see a winner and the test none.
        separated: Pairs where the test sees a winner.
        power: separated / n: the metric's discriminative power under this test.
        p_half: Two-sided binomial p-value of the share being 1/2.
        p_half_greater: One-sided p-value of the share being no larger than 1/2.
    """

    metric: str
    test: str
    alpha: float
    correct: int
    n: int
    share: float
    ci: tuple[float, float]
    reversed: int
    claimed: int
    missed: int
    separated: int
    power: float
    p_half: float
    p_half_greater: float


@dataclass(frozen=True)
class ChiSquare:
    """Are the metrics equally accurate under one test at one level?

    Attributes:
        test: Name of the significance test.
        alpha: Its level.
        statistic: Pearson's chi-square over metrics and correct or not, without Yates' correction.
        df: Number of metrics - 1.
        p_value: Upper tail, as if pairs were independent; null where every metric is right, or
            wrong, on all pairs.
    """

    test: str
    alpha: float
    statistic: float
    df: int
    p_value: float | None


@dataclass(frozen=True)
class BetweenTests:
    """How far two significance tests draw the same conclusions from one metric.

    Attributes:
        metric: Label of the metric.
        alpha: Level of both.
        a: First test.
        b: Second test.
        same: Pairs with the same conclusion.
        n: Pairs.
        share: same / n.
    """

    metric: str
    alpha: float
    a: str
    b: str
    same: int
    n: int
    share: float


@dataclass(frozen=True)
class HumanConclusions:
    """What people conclude at one level of the tests.

    Attributes:
        alpha: Level of the tests.
        human_alpha: Level of the conclusions of people.
        ties: Pairs where people see no winner.
        conclusions: Winner of each pair, `a`, `b` or `tie`, in the order of the pairs.
    """

    alpha: float
    human_alpha: float
    ties: int
    conclusions: tuple[str, ...]


@dataclass(frozen=True)
class TestedPair:
    """Two systems under every metric and test.

    Attributes:
        a: First system.
        b: Second system.
        p_greater: One-sided p-values of a being better, by metric, then test.
        p_less: One-sided p-values of b being better, likewise.
    """

    __test__ = False  # pytest: not a test class

    a: str
    b: str
    p_greater: Mapping[str, Mapping[str, float]]
    p_less: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, repr=False)
class AccuracyReport(Renderable):
    """Significance tests compared with people.

    Attributes:
        signature: The line that, with the texts and judgements, reproduces it.
        version: Of sigtest.
        systems: Names, in the order of the comparison.
        criteria: Of the human evaluation; the first that separates a pair decides.
        alphas: Levels of the tests.
        rows: By level, then metric, then test.
        chi_square: By level, then test; none for a single metric.
        between_tests: By level, then metric, then pair of tests.
        human: By level.
        pairs: In the order of the comparison.
        warnings: What the reader must not overlook.
        methods: How the numbers came about, for a paper.
    """

    path = "test-accuracy"

    signature: str
    version: str
    systems: tuple[str, ...]
    criteria: tuple[str, ...]
    alphas: tuple[float, ...]
    rows: tuple[AccuracyRow, ...]
    chi_square: tuple[ChiSquare, ...]
    between_tests: tuple[BetweenTests, ...]
    human: tuple[HumanConclusions, ...]
    pairs: tuple[TestedPair, ...]
    warnings: Warnings
    methods: Methods | None = None


# From a question to it ------------------------

A_BETTER, TIE, B_BETTER = 1, 0, -1
NAMES = {A_BETTER: "a", TIE: "tie", B_BETTER: "b"}
CLAIMS: tuple[Alternative, ...] = ("greater", "less")
DEPENDENT = WarningReport(
    "dependent-pairs",
    "Pairs of systems share systems and test set, so that they are dependent; intervals, "
    "chi-square and binomial p-values take them as independent, as the papers do, and are too "
    "narrow and too small.",
)


def compute(question: AccuracyQuestion, progress: Progress | None = None) -> AccuracyReport:
    """Hold significance tests against people.

    Args:
        question: A comparison, or p-values, and what people say of its pairs.
        progress: Called with phase (`statistics`, `resampling`, `report`), done and total.

    Returns:
        The report; the same bits for the same input, choices and version.
    """
    say = progress or silent
    tested = question.comparison
    if isinstance(tested, Comparison):
        tested = one_sided(tested, say)
    people = question.people
    if not isinstance(people, Judged):
        people = judge_pairs(people, tested.systems, tested.pairs)
    say("report", 0, 1)
    report = _report(question, tested, people)
    say("report", 1, 1)
    return with_methods(report, sentences)


def _report(question: AccuracyQuestion, tested: Tested, judged: Judged) -> AccuracyReport:
    rows: list[AccuracyRow] = []
    squares: list[ChiSquare] = []
    between: list[BetweenTests] = []
    human: list[HumanConclusions] = []
    n, fixed = len(tested.pairs), question.human_alpha
    for alpha in question.alphas:
        human_alpha = alpha if fixed is None else fixed
        people = combine(list(conclude(judged.p_greater, judged.p_less, human_alpha)))
        found = conclude(tested.p_greater, tested.p_less, alpha)
        names = tuple(NAMES[winner] for winner in people.tolist())
        human.append(HumanConclusions(alpha, human_alpha, names.count("tie"), names))
        for m, metric in enumerate(tested.metrics):
            rows += [
                accuracy_row(found[m, t], people, metric, test, alpha)
                for t, test in enumerate(tested.tests)
            ]
            for (i, a), (j, b) in combinations(enumerate(tested.tests), 2):
                same = int(np.count_nonzero(found[m, i] == found[m, j]))
                between.append(BetweenTests(metric, alpha, a, b, same, n, same / n))
        correct = np.count_nonzero(found == people, axis=2)  # (M, T)
        for t, test in enumerate(tested.tests if len(correct) > 1 else ()):
            statistic, p = chi_square(correct[:, t], n)
            squares.append(ChiSquare(test, alpha, statistic, len(correct) - 1, p))
    levels = "+".join(f"{alpha:g}" for alpha in question.alphas)
    human_level = "same" if fixed is None else f"{fixed:g}"
    return AccuracyReport(
        signature=f"alphas:{levels}|human_alpha:{human_level}|({judged.signature})|"
        f"{tested.signature}",
        version=__version__,
        systems=tested.systems,
        criteria=judged.criteria,
        alphas=question.alphas,
        rows=tuple(rows),
        chi_square=tuple(squares),
        between_tests=tuple(between),
        human=tuple(human),
        pairs=tuple(
            TestedPair(a, b, tested.by_name(tested.p_greater, i), tested.by_name(tested.p_less, i))
            for i, (a, b) in enumerate(tested.pairs)
        ),
        warnings=(*question.notes, *judged.notes, DEPENDENT),
    )


def accuracy_row(found: Counts, human: Counts, metric: str, test: str, alpha: float) -> AccuracyRow:
    """How the conclusions of one metric and test agree with those of people.

    Args:
        found: (P,) conclusions of the test.
        human: (P,) conclusions of people.
        metric: Its label.
        test: Its name.
        alpha: Level of the conclusions of the test.
    """
    n = len(human)
    correct = int(np.count_nonzero(found == human))
    separated = int(np.count_nonzero(found != TIE))
    low, high = clopper_pearson(np.array([correct]), n, LEVEL)
    p_half, p_greater = against_half(correct, n)
    return AccuracyRow(
        metric=metric,
        test=test,
        alpha=alpha,
        correct=correct,
        n=n,
        share=correct / n,
        ci=(float(low[0]), float(high[0])),
        reversed=int(np.count_nonzero(found * human == -1)),
        claimed=int(np.count_nonzero((found != TIE) & (human == TIE))),
        missed=int(np.count_nonzero((found == TIE) & (human != TIE))),
        separated=separated,
        power=separated / n,
        p_half=p_half,
        p_half_greater=p_greater,
    )


def conclude(p_greater: Array, p_less: Array, alpha: float) -> Counts:
    """Winners of pairs, each claim at a level of its own.

    Args:
        p_greater: (..., P) one-sided p-values of a being better.
        p_less: (..., P) of b being better.
        alpha: Level of each.

    Returns:
        (..., P): 1 where a is better, -1 where b is, 0 for neither. Where both claims hold, which
        takes levels of one half, the smaller p-value decides.
    """
    better = (p_greater <= alpha) & (p_greater <= p_less)
    worse = (p_less <= alpha) & (p_less < p_greater)
    return better.astype(int) - worse.astype(int)


def combine(criteria: Sequence[Counts]) -> Counts:
    """The conclusion of the first criterion that separates a pair, adequacy before fluency.

    Graham, Mathur & Baldwin (2014), section 4.
    """
    combined = criteria[0].copy()
    for later in criteria[1:]:
        combined = np.where(combined == TIE, later, combined)
    return combined


def chi_square(correct: Counts, n: int) -> tuple[float, float | None]:
    """Pearson's chi-square of a table of correct and wrong, one row a metric, without Yates.

    Args:
        correct: (k,) correct pairs of each metric.
        n: Pairs of each.

    Returns:
        The statistic and its p-value with k - 1 degrees of freedom; no p-value where all metrics
        are right, or wrong, on all pairs.
    """
    right = float(correct.mean())
    wrong = n - right
    if right == 0 or wrong == 0:
        return 0.0, None
    gaps = (correct - right) ** 2
    statistic = float((gaps / right + gaps / wrong).sum())
    return statistic, float(gammaincc((len(correct) - 1) / 2.0, statistic / 2.0))


def against_half(correct: int, n: int) -> tuple[float, float]:
    """Exact binomial p-values of a share of 1/2: two-sided, and for the share being larger."""
    greater, less = (
        1.0 if count <= 0 else float(betainc(count, n - count + 1, 0.5))  # P(X >= count)
        for count in (correct, n - correct)
    )
    return min(1.0, 2.0 * min(greater, less)), greater


def one_sided(comparison: Comparison, say: Progress) -> Tested:
    """P-values of every pair, metric and test for the claims that a is better, and that b is.

    Draws are addressed by seed and resample, so that both claims look at the same ones.

    Args:
        comparison: On one test set, without correction.
        say: Called with phase (`statistics`, `resampling`), done and total.
    """
    tables = measure_all(comparison, say)
    recipe, plan = comparison.recipe, comparison.plan
    p: dict[tuple[str, str], list[float]] = {}  # of the better and the worse, as is claimed
    claims = CLAIMS if recipe.baselines else CLAIMS[:1]  # of all pairs it is made in both orders
    for number, claim in enumerate(claims):
        one = replace(comparison, recipe=recipe.but(alternative=claim))
        samples = Samples(one.plan, tables)
        report = reduce(samples, drawn(samples, partial(_part_of, say, number, len(claims))))
        for pair in report.pairs:  # by metric, then test
            both = (pair.a, pair.b) if claim == "greater" else (pair.b, pair.a)
            p.setdefault(both, []).append(pair.p_value)
    pairs = tuple((plan.systems[a], plan.systems[b]) for a, b in plan.pairs.tolist())
    shape = len(recipe.metrics), len(recipe.tests), -1
    return Tested(
        systems=plan.systems,
        pairs=pairs,
        metrics=recipe.labels,
        tests=recipe.tests,
        p_greater=np.array([p[a, b] for a, b in pairs]).T.reshape(shape),
        p_less=np.array([p[b, a] for a, b in pairs]).T.reshape(shape),
        signature=f"claims:{'+'.join(CLAIMS)}|{plan.signature}",
    )


def _part_of(say: Progress, number: int, of: int, phase: str, done: int, total: int) -> None:
    """How far one claim is, as a part of all."""
    say(phase, number * total + done, of * total)


def sentences(report: AccuracyReport, sources: Sources) -> Iterator[str]:
    """Whose conclusions were compared with whose, and how agreement was judged."""
    tests = dict.fromkeys(row.test for row in report.rows)
    # nothing stands behind a test whose p-values came under another name
    papers = {name: TESTS[name].papers if name in TESTS else () for name in tests}
    named = [f"{name.replace('_', ' ')}{sources.cite(*own)}" for name, own in papers.items()]
    metrics = list(dict.fromkeys(row.metric for row in report.rows))
    levels = [f"{alpha:g}" for alpha in report.alphas]
    study = sources.cite("graham-etal-2014-randomized")
    yield (
        f"Conclusions of {listed(named)} by {listed(metrics)} on {len(report.pairs):,} pairs of "
        f"{len(report.systems)} systems were compared with people's conclusions by "
        f"{', then '.join(report.criteria)}{study}."
    )
    yield (
        f"A conclusion is that of both one-sided tests at level {listed(levels)}; p-values are not "
        "corrected for multiple comparisons."
    )
    cited = sources.cite("clopper-pearson-1934-use")
    yield f"Intervals of shares are 95 % Clopper-Pearson intervals{cited}."
