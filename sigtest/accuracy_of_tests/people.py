"""What people say of pairs of systems: p-values as given, or from judgements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sigtest.accuracy_of_tests.question import Judged
from sigtest.data.choices import choose
from sigtest.data.names import check_name
from sigtest.data.text import check_list
from sigtest.errors import InputError, RecipeError, quoted
from sigtest.meta_evaluation.scored import probability
from sigtest.people import HumanQuestion, compute, evaluation_in
from sigtest.people.matching import match_systems
from sigtest.requests.accuracy import JudgedPairsRequest

SINGLE = "overall"  # criterion of pairs that name none
COMBINED = "combined"

Directions = tuple[float, float]  # p_greater, p_less
Pairs = Sequence[tuple[str, str]]
ByCriterion = dict[str, dict[tuple[str, str], Directions]]
Files = Sequence[tuple[str, bytes]]


def parse_people(
    body: object, files: Files, systems: Sequence[str], pairs: Pairs
) -> Judged | HumanQuestion:
    """The human part of a request.

    Args:
        body: `pairs` with p-values, or a request of /human-evaluations, or one that was parsed, as
            its `evaluation`.
        files: Name and bytes of each file of judgements.
        systems: Names of the systems of the comparison.
        pairs: Names of the two systems of each pair.

    Raises:
        SigtestError: Something is missing or unknown; a system that only one side has.
    """
    if not isinstance(body, Mapping):
        raise InputError("human must be an object.", field="human")
    asked = evaluation_in(body, files)
    if asked is None:
        return _given(body, systems, pairs)
    match_systems(asked.systems, systems, asked.choices.aliases)
    return asked


def judge_pairs(asked: HumanQuestion, systems: Sequence[str], pairs: Pairs) -> Judged:
    """P-values of people for the pairs of a comparison, from judgements."""
    report = compute(asked)
    found: ByCriterion = {}
    for pair in report.pairs:
        own = found.setdefault(pair.criterion, {})
        own[pair.a, pair.b] = pair.p_greater, pair.p_less
    if len(found) > 1:
        found.pop(COMBINED, None)
    judged = _by_pair(found, report.criteria, asked.choices.aliases, systems, pairs)
    notes = (*judged.notes, *report.warnings)
    return replace(judged, notes=notes, signature=report.signature)


def _given(body: Mapping[str, Any], systems: Sequence[str], pairs: Pairs) -> Judged:
    """P-values of people that stand in the request."""
    wanted = JudgedPairsRequest.of(body, ("pairs",), "human")
    found = _human_pairs(body)
    criteria = _criteria(wanted.criteria, list(found))
    return _by_pair(found, criteria, wanted.aliases, systems, pairs)


def _by_pair(
    found: ByCriterion,
    criteria: Sequence[str],
    aliases: Mapping[str, str],
    systems: Sequence[str],
    pairs: Pairs,
) -> Judged:
    """P-values in the order of the pairs of the comparison."""
    judged = list(dict.fromkeys(name for own in found.values() for pair in own for name in pair))
    matched = match_systems(judged, systems, aliases)
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


def _human_pairs(body: Mapping[str, Any]) -> ByCriterion:
    """P-values by criterion, then pair; combined ones are found again at every level."""
    found: ByCriterion = {}
    for i, row in enumerate(check_list(body.get("pairs", []), "human.pairs")):
        where = f"human.pairs[{i}]"
        if not isinstance(row, Mapping):
            raise InputError(f"{where} must be an object with a, b and p_greater.", field=where)
        criterion = row.get("criterion", SINGLE)
        if not isinstance(criterion, str) or not criterion:
            raise RecipeError(
                f"{where}.criterion must be text, not {quoted(criterion)}.",
                field=f"{where}.criterion",
            )
        found.setdefault(criterion, {})[names(row, where)] = directions(row, where)
    if len(found) > 1:
        found.pop(COMBINED, None)
    if not found:
        raise InputError("human.pairs has no pairs.", field="human.pairs")
    return found


def _criteria(wanted: Sequence[str], known: Sequence[str]) -> list[str]:
    """The criteria in the order in which they decide."""
    if not wanted:
        return list(known)
    named = [name for name in wanted if name != COMBINED]
    names = [choose(name, known, "human.criteria", "criterion") for name in named]
    if not names:
        raise InputError("human.criteria must name at least one.", field="human.criteria")
    return names


def names(row: Mapping[str, Any], where: str) -> tuple[str, str]:
    """The two systems of a pair, as a request has them."""
    a, b = (check_name(row.get(side), field=f"{where}.{side}") for side in ("a", "b"))
    if a == b:
        raise InputError(f"{where} compares {a} with itself.", field=where)
    return a, b


def directions(row: Mapping[str, Any], where: str) -> Directions:
    """The two one-sided p-values of a pair, as a request has them."""
    greater, less = (probability(row.get(p), f"{where}.{p}") for p in ("p_greater", "p_less"))
    return greater, less


def _notes(references: Sequence[str]) -> tuple[str, ...]:
    if not references:
        return ()
    return (f"Judged human translations without outputs are left out: {', '.join(references)}.",)
