"""From the JSON body of POST /v1/metric-evaluations to what is asked; every field is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sigtest.arrays import Flags
from sigtest.data.choices import choose
from sigtest.data.names import check_name
from sigtest.errors import InputError, RecipeError
from sigtest.meta_evaluation.question import MetricChoices, MetricQuestion
from sigtest.meta_evaluation.scored import (
    FEWEST_SYSTEMS,
    ScoredSet,
    all_systems,
    metric_systems,
    scored_set,
)
from sigtest.meta_evaluation.significance.williams import FEWEST
from sigtest.meta_evaluation.sources import scores_of
from sigtest.people import HumanQuestion, evaluation_in
from sigtest.requests.meta import STATISTICS, TESTS, Excluding, Group, MetricEvaluationRequest
from sigtest.requests.recipe import Recipe

CONTENT = ("human", "metrics")
SET = (*CONTENT, "exclude_systems")


def parse(request: Mapping[str, Any], files: Sequence[tuple[str, bytes]] = ()) -> MetricQuestion:
    """Validate a request completely.

    Args:
        request: `human` and `metrics`, or `sets` of them by name; and any of FIELDS. `human` has
            `scores`, or is a request of /human-evaluations, or has one that was parsed, as its
            `evaluation`.
        files: Name and bytes of each file of judgements; `human` has the choices of a human
            evaluation then, or is left out.

    Raises:
        SigtestError: Something is missing, unknown, out of range, or does not fit the rest.
    """
    given = MetricEvaluationRequest.of(request, (*CONTENT, "sets"))
    bodies = _bodies(request)
    if files and "sets" in request:
        raise InputError("Files of judgements are for one set; put rows into sets.", field="sets")
    exclude = _excluded(request, "exclude_systems", list(bodies.values()))
    sets = tuple(_set(body, name, files, exclude) for name, body in bodies.items())
    choices = _choices(given, sets)
    for own in sets:
        _check_set(own, choices)
    return MetricQuestion(sets, "sets" in request, choices)


def _set(
    body: Mapping[str, Any], name: str, files: Sequence[tuple[str, bytes]], exclude: Sequence[str]
) -> ScoredSet:
    """One set, whose human scores may still be judgements."""
    path = f"sets.{name}." if name else ""
    if name:
        exclude = (*exclude, *_excluded(body, f"{path}exclude_systems", [body]))
    evaluation = _evaluation(body.get("human"), files, path)
    if evaluation is None:
        return scored_set(body, name, path, exclude)
    given = [system for system in metric_systems(body) if system not in exclude]
    found = scores_of(evaluation, given, exclude)
    own = scored_set({**body, "human": {"scores": found.scores}}, name, path, exclude)
    return replace(own, notes=(*found.notes, *own.notes), judgements=found.signature)


def _evaluation(
    human: object, files: Sequence[tuple[str, bytes]], path: str
) -> HumanQuestion | None:
    """The human evaluation that the human scores come from; none where they are given."""
    if human is not None and not isinstance(human, Mapping):
        if not files:
            return None  # which is refused as scores
        raise InputError(f"{path}human must be an object.", field=f"{path}human")
    return evaluation_in(human or {}, files, path)


def _bodies(request: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Human and metric scores of each set, by its name; one without a name where none are named."""
    sets = request.get("sets")
    if sets is None:
        return {"": request}
    if any(request.get(field) is not None for field in CONTENT):
        raise InputError("Give human and metrics, or sets of them, not both.", field="sets")
    if not isinstance(sets, Mapping) or not sets:
        raise InputError("sets must be an object of sets by name.", field="sets")
    for name, body in sets.items():
        check_name(name, "set", "sets")
        if not isinstance(body, Mapping):
            raise InputError(
                f"sets.{name} must be an object with human and metrics.", field=f"sets.{name}"
            )
        for field in body:
            choose(field, SET, f"sets.{name}.{field}", "field of a set")
    return dict(sets)


def _excluded(
    body: Mapping[str, Any], field: str, bodies: Sequence[Mapping[str, Any]]
) -> tuple[str, ...]:
    """Systems to leave out, each of which some set speaks of."""
    asked = Excluding.of(
        {"exclude_systems": body.get("exclude_systems", ())}, place=field.rpartition(".")[0]
    ).exclude_systems
    if asked:
        known = sorted(set().union(*(all_systems(own) for own in bodies)))
        for name in asked:
            choose(name, known, field, "system")
    return asked


def _choices(given: MetricEvaluationRequest, sets: Sequence[ScoredSet]) -> MetricChoices:
    level, group = given.level, given.group
    if level == "system" and group != "none":
        raise RecipeError(
            f"group {group} needs the scores of segments; use level segment.", field="group"
        )
    statistics = _statistics(given, sets, group)
    tests = _tests(given, sets, statistics, group)
    # a recipe checks these fields; what it would score with is of no meaning here
    shared = {"alternative", "correction", "alpha", "resamples", "seed"}
    recipe = Recipe.of(given.model_dump(include=shared, exclude_none=True))
    pairs = sum(len(own.metrics) * (len(own.metrics) - 1) // 2 for own in sets)
    return MetricChoices(
        level=level,
        group=group,
        statistics=statistics,
        tests=tests,
        alternative=recipe.alternative,
        absolute=given.absolute,
        alpha=recipe.alpha,
        correction=recipe.correction,
        resamples=recipe.resolved(max(1, pairs * (1 + (recipe.alternative != "two-sided")))),
        seed=recipe.seed,
        baseline=_baseline(given, sets),
    )


def _statistics(
    given: MetricEvaluationRequest, sets: Sequence[ScoredSet], group: Group
) -> tuple[str, ...]:
    """The statistics asked for; where none are, all that the scores allow."""
    refused = {}
    if group == "system":
        refused["accuracy_ties"] = (
            "calibrates ties over the systems of each segment; use group none or item"
        )
    if not all(_has_segments(own) for own in sets):
        refused["soft_accuracy"] = "needs segment scores, of people and of every metric"
    asked = given.statistics
    if asked is None:
        return tuple(name for name in STATISTICS if name not in refused)
    if not asked:
        raise RecipeError("statistics must name at least one.", field="statistics")
    for name in asked:
        if name in refused:
            raise RecipeError(f"{name} {refused[name]}.", field="statistics")
    return asked


def _tests(
    given: MetricEvaluationRequest,
    sets: Sequence[ScoredSet],
    statistics: Sequence[str],
    group: Group,
) -> tuple[str, ...]:
    """The tests asked for; where none are, all that apply."""
    refused = None
    if "pearson" not in statistics:
        refused = "compares two of Pearson's r; ask for the statistic pearson"
    elif group != "none":
        refused = f"compares two correlations, not means of many; group {group} has perm_both"
    elif any(len(own.systems) < FEWEST for own in sets):
        refused = f"needs at least {FEWEST} systems, as it has n - 3 degrees of freedom"
    asked = given.tests
    if asked is None:
        return tuple(name for name in TESTS if name != "williams" or refused is None)
    if "williams" in asked and refused:
        raise RecipeError(f"williams {refused}.", field="tests")
    return asked


def _has_segments(own: ScoredSet) -> bool:
    """Whether soft accuracy can be computed, from segment scores or p-values of each metric."""
    return own.human_segment is not None and all(
        metric.segment is not None or metric.better is not None for metric in own.metrics
    )


def _baseline(given: MetricEvaluationRequest, sets: Sequence[ScoredSet]) -> str | None:
    """The metric to beat: the one named, or else BLEU where there is one."""
    labels = list(dict.fromkeys(metric.label for own in sets for metric in own.metrics))
    if given.baseline is not None:
        return str(choose(given.baseline, labels, "baseline", "metric"))
    spelled = sorted((label for label in labels if label.lower().startswith("bleu")), key=len)
    return next((label for label in spelled if label.lower().split("-")[0] == "bleu"), None)


def _check_set(own: ScoredSet, choices: MetricChoices) -> None:
    """Check that people and every metric share enough systems at the level asked for."""
    path = f"sets.{own.name}." if own.name else ""
    where = f" of set {own.name!r}" if own.name else ""
    human = own.human_system if choices.level == "system" else own.human_segment
    if human is None:
        raise InputError(
            f"The human scores{where} have no {choices.level} scores, which level "
            f"{choices.level} needs.",
            field=f"{path}human.scores",
        )
    for metric in own.metrics:
        scores = metric.system if choices.level == "system" else metric.segment
        field = f"{path}metrics.{metric.label}"
        if scores is None:
            raise InputError(
                f"Metric {metric.label}{where} has no {choices.level} scores, which level "
                f"{choices.level} needs.",
                field=field,
            )
        cells = ~np.isnan(human) & ~np.isnan(scores)
        shared: Flags = np.logical_or.reduce(cells.reshape(len(own.systems), -1), axis=1)
        _check_shared(own, metric.label, shared, field)


def _check_shared(own: ScoredSet, label: str, shared: Flags, field: str) -> None:
    """Check that people and a metric have scores of enough systems, segment by segment if asked."""
    count = int(np.count_nonzero(shared))
    if count < FEWEST_SYSTEMS:
        names = [system for system, both in zip(own.systems, shared, strict=True) if both]
        raise InputError(
            f"Metric {label} and the human scores share the scores of {count} "
            f"system{'' if count == 1 else 's'} ({', '.join(names) or 'none'}); at least "
            f"{FEWEST_SYSTEMS} are needed.",
            field=field,
        )
