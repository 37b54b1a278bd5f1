"""From the JSON body of POST /v1/test-accuracy to what is asked; every field is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sigtest.accuracy_of_tests.people import Directions, Files, directions, names, parse_people
from sigtest.accuracy_of_tests.question import AccuracyQuestion, Judged, Tested
from sigtest.comparison.comparison import Comparison
from sigtest.comparison.parse import parse_named
from sigtest.data.choices import choose
from sigtest.data.names import check_name
from sigtest.errors import InputError, RecipeError, inside
from sigtest.people import HumanQuestion
from sigtest.people.matching import check_segments
from sigtest.requests.accuracy import AccuracyRequest
from sigtest.significance import TESTS, ResamplingTest

PAIR = ("a", "b", "metric", "test", "p_greater", "p_less")
LEVEL = 0.05  # of intervals that nothing looks at
NEEDED = {  # of a request
    "human": 'judgements, p-values by pair, or {"id": ID} of a finished human evaluation',
    "comparison": "references and outputs, p-values by pair, or "
    '{"id": ID} of a finished comparison',
}
OWN = ("alternative", "correction", "alpha")  # which accuracy of tests decides itself


def parse(request: Mapping[str, Any], files: Files = ()) -> AccuracyQuestion:
    """Validate a request completely.

    Args:
        request: `human`, a request of /human-evaluations, or `pairs` with p-values by criterion
            (those of a human evaluation's report), or an `evaluation` that was parsed;
            `comparison`, a request of /comparisons on one test set, or `pairs` with p-values of
            their own, or one that was parsed, as its `id`; `alphas` and `human_alpha`.
        files: Name and bytes of each file of judgements, where they are not in the request.

    Raises:
        SigtestError: Something is missing, unknown, out of range, or does not fit the rest.
    """
    levels = AccuracyRequest.of(request, ("human", "comparison"))
    compared = _compared(_object(request, "comparison"))
    systems, pairs = _pairs(compared)
    human = request.get("human") or {} if files else _object(request, "human")
    people = parse_people(human, files, systems, pairs)
    numbered = _numbered(people, compared)
    unused = [name for name in OWN if name in request["comparison"]]
    notes = (*numbered, *_notes(unused))
    return AccuracyQuestion(people, compared, levels.alphas, levels.human_alpha, notes)


def _numbered(people: Judged | HumanQuestion, compared: Comparison | Tested) -> tuple[str, ...]:
    """How judged segments are numbered, where both they and the test set are known."""
    if isinstance(people, Judged) or isinstance(compared, Tested):
        return ()
    with inside("human"):
        return check_segments(people.judgements.segment.names, compared.entries[0].testset.segments)


def _notes(unused: Sequence[str]) -> tuple[str, ...]:
    if not unused:
        return ()
    return (
        f"Not used of the comparison: {', '.join(unused)}. Both one-sided claims are tested at "
        "each of the alphas, without correction.",
    )


def _object(body: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    value = body.get(field)
    if not isinstance(value, Mapping) or not value:
        raise InputError(f"{field} must be an object: {NEEDED[field]}.", field=field)
    return value


def _compared(body: Mapping[str, Any]) -> Comparison | Tested:
    """A comparison whose claims are one-sided, or p-values that were computed elsewhere."""
    if set(body) == {"pairs"} and isinstance(body["pairs"], list | tuple):
        return _tested(body["pairs"])
    if "testsets" in body:
        raise RecipeError(
            "Accuracy of tests is about one test set; give references and systems.",
            field="comparison.testsets",
        )
    comparison = parse_named(body)
    if len(comparison.entries) > 1:
        raise RecipeError("Accuracy of tests is about one test set.", field="comparison.id")
    for test in comparison.recipe.tests:
        kind = TESTS[test]
        if isinstance(kind, ResamplingTest) and not kind.directed:
            raise RecipeError(
                f"{test} has no direction, so that it cannot say which system is better.",
                field="comparison.tests",
            )
    if len(comparison.plan.pairs) < 1:
        raise InputError("The comparison has no pairs of systems.", field="comparison.systems")
    recipe = comparison.recipe.but(alternative="two-sided", correction="none", alpha=LEVEL)
    return replace(comparison, recipe=recipe)


def _tested(rows: Sequence[object]) -> Tested:
    """P-values by pair, metric and test, of which none may be missing."""
    path = "comparison.pairs"
    found: dict[tuple[str, str], dict[tuple[str, str], Directions]] = {}
    for i, row in enumerate(rows):
        where = f"{path}[{i}]"
        if not isinstance(row, Mapping):
            raise InputError(f"{where} must be an object.", field=where)
        for name in row:
            choose(name, PAIR, f"{where}.{name}", "field of a pair")
        what = (
            check_name(row.get("metric"), "metric", f"{where}.metric"),
            check_name(row.get("test"), "test", f"{where}.test"),
        )
        found.setdefault(names(row, where), {})[what] = directions(row, where)
    if not found:
        raise InputError(f"{path} has no pairs.", field=path)
    columns = list(dict.fromkeys(what for own in found.values() for what in own))
    metrics = tuple(dict.fromkeys(metric for metric, _ in columns))
    tests = tuple(dict.fromkeys(test for _, test in columns))
    p = np.empty((2, len(metrics), len(tests), len(found)))
    for k, (pair, own) in enumerate(found.items()):
        for m, metric in enumerate(metrics):
            for t, test in enumerate(tests):
                if (metric, test) not in own:
                    raise InputError(
                        f"{path}: {pair[0]} and {pair[1]} have no p-values for {metric} and "
                        f"{test}.",
                        field=path,
                    )
                p[:, m, t, k] = own[metric, test]
    systems = tuple(dict.fromkeys(name for pair in found for name in pair))
    return Tested(systems, tuple(found), metrics, tests, p[0], p[1], "p-values:given")


def _pairs(compared: Comparison | Tested) -> tuple[tuple[str, ...], list[tuple[str, str]]]:
    if isinstance(compared, Tested):
        return compared.systems, list(compared.pairs)
    plan = compared.plan
    return plan.systems, [(plan.systems[a], plan.systems[b]) for a, b in plan.pairs.tolist()]
