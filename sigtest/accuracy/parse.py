"""From the JSON body of POST /v1/test-accuracy to what is asked; every field is checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sigtest.accuracy.asked import Asked, Judged, Tested
from sigtest.comparison.comparison import Comparison
from sigtest.comparison.parse import parse_comparison
from sigtest.data.choices import choose
from sigtest.data.names import check_name
from sigtest.data.text import check_list
from sigtest.errors import InputError, RecipeError
from sigtest.human.matching import match_systems
from sigtest.significance import TESTS, ResamplingTest

FIELDS = ("human", "comparison", "alphas", "human_alpha")
HUMAN = ("pairs", "criteria", "aliases")
PAIR = ("a", "b", "p_greater", "p_less")
ALPHAS = (0.05, 0.01, 0.001)
SINGLE = "overall"  # criterion of human pairs that name none
COMBINED = "combined"

Directions = tuple[float, float]  # p_greater, p_less


def parse(request: Mapping[str, Any]) -> Asked:
    """Validate a request completely.

    Args:
        request: `human` with p-values of pairs, by criterion (the `pairs` and `criteria` of a human
            evaluation's report); `comparison`, a request of /comparisons on one test set, or
            `pairs` with p-values of their own; `alphas` and `human_alpha`.

    Raises:
        SigtestError: Something is missing, unknown, out of range, or does not fit the rest.
    """
    if not isinstance(request, Mapping):
        raise InputError("Accuracy of tests is asked for with a JSON object.")
    for field in request:
        choose(field, FIELDS, field, "field")
    compared = _compared(_object(request, "comparison"))
    systems, pairs = _pairs(compared)
    judged = _judged(_object(request, "human"), systems, pairs)
    alphas = [
        _level(alpha, f"alphas[{i}]")
        for i, alpha in enumerate(check_list(request.get("alphas", ALPHAS), "alphas"))
    ]
    if not alphas or len(set(alphas)) < len(alphas):
        raise RecipeError("alphas must name at least one level, each once.", field="alphas")
    human = request.get("human_alpha", "same")
    human_alpha = None if human == "same" else _level(human, "human_alpha")
    return Asked(judged, compared, tuple(alphas), human_alpha)


def _object(body: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    value = body.get(field)
    if not isinstance(value, Mapping) or not value:
        raise InputError(f"{field} must be an object.", field=field)
    return value


def _level(value: object, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise RecipeError(f"{field} must lie between 0 and 1, not {value!r:.40}.", field=field)
    return float(value)


def _compared(body: Mapping[str, Any]) -> Comparison | Tested:
    """A comparison, without correction, or p-values that were computed elsewhere."""
    if set(body) == {"pairs"} and isinstance(body["pairs"], list | tuple):
        return _tested(body["pairs"])
    if "testsets" in body:
        raise RecipeError(
            "Accuracy of tests is about one test set; give references and systems.",
            field="comparison.testsets",
        )
    comparison = parse_comparison(body)
    for test in comparison.recipe.tests:
        kind = TESTS[test]
        if isinstance(kind, ResamplingTest) and not kind.directed:
            raise RecipeError(
                f"{test} has no direction, so that it cannot say which system is better.",
                field="comparison.tests",
            )
    if len(comparison.plan.pairs) < 1:
        raise InputError("The comparison has no pairs of systems.", field="comparison.systems")
    # conclusions are drawn at each alpha, from both claims, as the paper does: uncorrected
    return replace(comparison, recipe=replace(comparison.recipe, correction="none"))


def _tested(rows: Sequence[object]) -> Tested:
    """P-values by pair, metric and test, of which none may be missing."""
    path = "comparison.pairs"
    found: dict[tuple[str, str], dict[tuple[str, str], Directions]] = {}
    for i, row in enumerate(rows):
        where = f"{path}[{i}]"
        if not isinstance(row, Mapping):
            raise InputError(f"{where} must be an object.", field=where)
        for name in row:
            choose(name, (*PAIR, "metric", "test"), f"{where}.{name}", "field of a pair")
        what = (check_name(row.get("metric"), "metric"), check_name(row.get("test"), "test"))
        found.setdefault(_names(row, where), {})[what] = _directions(row, where)
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


def _judged(
    human: Mapping[str, Any], systems: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> Judged:
    """P-values of people for the pairs of the comparison."""
    for name in human:
        choose(name, HUMAN, f"human.{name}", "field of human")
    found = _human_pairs(human)
    criteria = _criteria(human, list(found))
    names = list(dict.fromkeys(name for own in found.values() for pair in own for name in pair))
    aliases = human.get("aliases", {})
    if not isinstance(aliases, Mapping):
        raise InputError("human.aliases must be an object of names by name.", field="human.aliases")
    matched = match_systems(names, systems, {str(k): str(v) for k, v in aliases.items()})
    judged_as = {given: name for name, given in matched.given.items()}
    p = np.empty((2, len(criteria), len(pairs)))
    for c, criterion in enumerate(criteria):
        own = found[criterion]
        for k, (a, b) in enumerate(pairs):
            first, second = judged_as[a], judged_as[b]
            if (first, second) in own:
                p[:, c, k] = own[first, second]
            elif (second, first) in own:
                p[:, c, k] = own[second, first][::-1]
            else:
                raise InputError(
                    f"human.pairs: people did not compare {first} and {second} ({criterion}).",
                    field="human.pairs",
                )
    return Judged(tuple(criteria), p[0], p[1], _notes(matched.references))


def _human_pairs(human: Mapping[str, Any]) -> dict[str, dict[tuple[str, str], Directions]]:
    """P-values by criterion, then pair; combined ones are found again at every level."""
    found: dict[str, dict[tuple[str, str], Directions]] = {}
    for i, row in enumerate(check_list(human.get("pairs", []), "human.pairs")):
        where = f"human.pairs[{i}]"
        if not isinstance(row, Mapping):
            raise InputError(f"{where} must be an object with a, b and p_greater.", field=where)
        criterion = str(row.get("criterion", SINGLE))
        found.setdefault(criterion, {})[_names(row, where)] = _directions(row, where)
    if len(found) > 1:
        found.pop(COMBINED, None)
    if not found:
        raise InputError("human.pairs has no pairs.", field="human.pairs")
    return found


def _criteria(human: Mapping[str, Any], known: Sequence[str]) -> list[str]:
    """The criteria in the order in which they decide."""
    asked = human.get("criteria")
    if asked is None:
        return list(known)
    names = [
        choose(name, known, "human.criteria", "criterion")
        for name in check_list(asked, "human.criteria")
        if name != COMBINED
    ]
    if not names:
        raise InputError("human.criteria must name at least one.", field="human.criteria")
    return names


def _names(row: Mapping[str, Any], where: str) -> tuple[str, str]:
    a, b = (check_name(row.get(side)) for side in ("a", "b"))
    if a == b:
        raise InputError(f"{where} compares {a} with itself.", field=where)
    return a, b


def _directions(row: Mapping[str, Any], where: str) -> Directions:
    found = []
    for field in ("p_greater", "p_less"):
        value = row.get(field)
        plain = isinstance(value, int | float) and not isinstance(value, bool)
        if not plain or not math.isfinite(float(value or 0)) or not 0 <= float(value or 0) <= 1:
            raise InputError(
                f"{where}.{field} must be a number from 0 to 1, not {value!r:.40}.",
                field=f"{where}.{field}",
            )
        found.append(float(value or 0))
    return found[0], found[1]


def _notes(references: Sequence[str]) -> tuple[str, ...]:
    if not references:
        return ()
    return (f"Judged human translations without outputs are left out: {', '.join(references)}.",)
