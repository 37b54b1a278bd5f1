"""What is asked about the accuracy of tests, and how a request says it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated, Any

import numpy as np

from sigtest.arrays import Array
from sigtest.comparison.comparison import Comparison, StoredComparison, parse_named
from sigtest.data.names import choose
from sigtest.errors import InputError, RecipeError, inside
from sigtest.kinds.base import About, WholeQuestion
from sigtest.kinds.comparisons import ComparisonQuestion
from sigtest.people.compute import compute
from sigtest.people.question import HumanQuestion, check_segments, evaluation_in, match_systems
from sigtest.report import ByClass, WarningReport, Warnings
from sigtest.requests.people import AccuracyRequest, JudgedPairsRequest, TestedPairsRequest
from sigtest.significance import TESTS
from sigtest.significance.base import ResamplingTest

LEVEL = 0.05  # of intervals that nothing looks at
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
    recipe = comparison.recipe.but(alternative="two-sided", correction="none", alpha=LEVEL)
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
    report = compute(question)
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
    left_out = tuple(matched.references)
    sentence = f"Judged human translations without outputs are left out: {', '.join(left_out)}."
    notes = (WarningReport("left-out", sentence, left_out),) if left_out else ()
    return Judged(tuple(criteria), p[0], p[1], notes)
