"""What is asked about metrics: sets of scores, choices, and how a request says them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from pydantic import PlainSerializer, PlainValidator

from sigtest.arrays import Flags
from sigtest.cached import cached_property
from sigtest.data.names import check_name, choose
from sigtest.errors import InputError, RecipeError
from sigtest.kinds.base import About, WholeQuestion
from sigtest.meta_evaluation.scored import (
    FEWEST_SYSTEMS,
    ScoredSet,
    all_systems,
    metric_systems,
    scored_set,
)
from sigtest.meta_evaluation.sources import scores_of
from sigtest.people.question import evaluation_in
from sigtest.requests import people
from sigtest.requests.recipe import Recipe
from sigtest.significance import Alternative
from sigtest.significance.exact import MOST_UNITS
from sigtest.version import __version__

FEWEST_WILLIAMS = 4  # systems, as n - 3 degrees of freedom are left
FACTS = {*people.CONTENT, "exclude_systems"}  # of each set, and no choices
UNSTATED = {*FACTS, "statistics", "tests", "seed"}  # which the report has otherwise

# Seconds of one core for a cell of a metric and a resample, fitted to measured times.
SECONDS = {"spearman": 2e-8, "kendall": 6e-9}
USUAL_SECONDS = 3e-9  # of other statistics
NEAR_DIGITS = 11  # of standardised scores: what is counted there is sure to be counted here
# The same for each pair of metrics: whatever there is, for a pair of systems, for a pair of systems
# on a segment, for one exchange of systems (and by the systems), for one at random by their pairs.
PAIR_SECONDS, ORDER_SECONDS, CELL_SECONDS = 1.5e-3, 4e-7, 5e-7
PATTERN_SECONDS, TIED_SECONDS, DRAW_SECONDS = 2e-7, 2.5e-6, 1.4e-8


class MetricChoices(people.MetricEvaluationRequest):
    """How metrics are held against people; all is decided."""

    statistics: tuple[str, ...]
    tests: tuple[str, ...]
    alternative: Alternative
    resamples: int

    def stored(self) -> dict[str, Any]:
        """As JSON has it."""
        return self.model_dump(mode="json", exclude=FACTS)

    @property
    def claims(self) -> tuple[Alternative, ...]:
        """What is decided about a pair of metrics."""
        return ("two-sided",) if self.alternative == "two-sided" else ("greater", "less")

    @property
    def signature(self) -> str:
        """The line that, with the scores, reproduces the report."""
        parts = [
            f"statistics:{'+'.join(self.statistics)}",
            f"level:{self.level}",
            f"group:{self.group}",
            f"tests:{'+'.join(self.tests) or 'none'}",
            f"alternative:{self.alternative}",
            f"absolute:{str(self.absolute).lower()}",
            f"resamples:{self.resamples}",
            f"seed:{self.seed}",
            f"alpha:{self.alpha}",
            f"correction:{self.correction}",
            *([f"baseline:{self.baseline}"] if self.baseline else []),
            f"sigtest:{__version__}",
        ]
        return "|".join(parts)


@dataclass(frozen=True)
class MetricQuestion(WholeQuestion):
    """A metric evaluation, validated when parsed.

    Attributes:
        sets: One for each pair of languages, say.
        several: Whether the request named its sets; the report then has figures over all of them.
        choices: How metrics are held against people.
    """

    noun = "meta"

    sets: tuple[ScoredSet, ...]
    several: bool
    choices: Annotated[
        MetricChoices, PlainValidator(MetricChoices.of), PlainSerializer(MetricChoices.stored)
    ]

    @property
    def stated(self) -> dict[str, Any]:
        """What the report repeats of the question."""
        chosen = self.choices.model_dump(exclude=UNSTATED)
        return {"signature": self.signature, "version": __version__, **chosen}

    @property
    def signature(self) -> str:
        """The line that, with the scores or judgements, reproduces the report."""
        judged = [one.judgements for one in self.sets if one.judgements]
        return "|".join([self.choices.signature, *(f"({one})" for one in judged)])

    @property
    def about(self) -> About:
        """Names of all sets."""
        return About(
            systems=tuple(dict.fromkeys(name for one in self.sets for name in one.systems)),
            metrics=tuple(dict.fromkeys(m.label for one in self.sets for m in one.metrics)),
            tests=self.choices.tests,
            testsets=tuple(one.name for one in self.sets) if self.several else (),
        )

    @cached_property
    def seconds(self) -> float:
        """About how long one core computes it."""
        choices = self.choices
        segments = choices.level == "segment"
        cells = sum(
            len(one.systems) * (one.segments if segments else 1) * len(one.metrics)
            for one in self.sets
        )
        each = sum(SECONDS.get(name, USUAL_SECONDS) for name in choices.statistics)
        comparing = sum(_comparing(one, segments, choices.resamples) for one in self.sets)
        return 0.3 + each * cells * choices.resamples + comparing


def _comparing(scored: ScoredSet, segments: bool, resamples: int) -> float:
    """To compare every pair of metrics of a set.

    Exchanges of systems are counted one by one where few systems differ, after standardisation.
    """
    size, metrics = len(scored.systems), len(scored.metrics)
    of_systems = size * (size - 1) / 2
    each = PAIR_SECONDS + ORDER_SECONDS * of_systems
    if segments:
        each += CELL_SECONDS * of_systems * scored.segments
        return metrics * (metrics - 1) / 2 * each
    scores = scored.metric_scores("system")[:, :, 0]
    centred = scores - scores.mean(axis=1, keepdims=True)
    spread = centred.std(axis=1, keepdims=True)
    even = (centred / np.where(spread > 0, spread, 1.0)).round(NEAR_DIGITS)
    total = 0.0
    tied = np.array([len({*own}) < size for own in even.tolist()])
    for m in range(1, metrics):
        differing = (even[:m] != even[m]).sum(axis=1)
        if np.isnan(even).any():  # pairs are compared on what both have, which may be little
            differing = np.minimum(differing, MOST_UNITS)
        patterns = np.exp2(np.minimum(differing, MOST_UNITS) - 1.0)
        counting = patterns * np.where(tied[:m] | tied[m], TIED_SECONDS, PATTERN_SECONDS)
        drawing = resamples * DRAW_SECONDS * of_systems
        total += m * each + float(np.where(differing <= MOST_UNITS, counting, drawing).sum())
    return total


# Requests ------------------------


def parse(request: Mapping[str, Any], files: Sequence[tuple[str, bytes]] = ()) -> MetricQuestion:
    """Validate a request completely.

    Args:
        request: `human` and `metrics`, or `sets` of them by name; and any of the fields of
            `MetricEvaluationRequest`. `human` has `scores`, or is a request of
            /human-evaluations, or has one that was parsed, as its `evaluation`.
        files: Name and bytes of each file of judgements; `human` has the choices of a human
            evaluation then, or is left out.

    Raises:
        SigtestError: Something is missing, unknown, out of range, or does not fit the rest.
    """
    wanted = people.MetricEvaluationRequest.of(request)
    bodies = _bodies(wanted)
    if files and wanted.sets:
        raise InputError("Files of judgements are for one set; put rows into sets.", field="sets")
    exclude = _excluded(wanted, "exclude_systems", list(bodies.values()))
    sets = tuple(_set(body, name, files, exclude) for name, body in bodies.items())
    choices = _choices(wanted, sets)
    for one in sets:
        _check_set(one, choices.level)
    return MetricQuestion(sets, wanted.sets is not None, choices)


def _set(
    body: people.MetricSet, name: str, files: Sequence[tuple[str, bytes]], exclude: Sequence[str]
) -> ScoredSet:
    """One set, whose human scores may still be judgements."""
    path = f"sets.{name}." if name else ""
    if name:
        exclude = (*exclude, *_excluded(body, f"{path}exclude_systems", [body]))
    evaluation = evaluation_in(body.human or {}, files, path)
    if evaluation is None:
        return scored_set(body, name, path, exclude)
    systems = [system for system in metric_systems(body) if system not in exclude]
    scores, notes = scores_of(evaluation, systems, exclude)
    body = body.model_copy(update={"human": {"scores": scores}})
    scored = scored_set(body, name, path, exclude)
    return replace(scored, notes=(*notes, *scored.notes), judgements=evaluation.signature)


def _bodies(wanted: people.MetricEvaluationRequest) -> Mapping[str, people.MetricSet]:
    """Human and metric scores of each set, by its name; one without a name where none are named."""
    if wanted.sets is None:
        return {"": wanted}
    if wanted.human is not None or wanted.metrics is not None:
        raise InputError("Give human and metrics, or sets of them, not both.", field="sets")
    for name in wanted.sets:
        check_name(name, "set", "sets")
    return wanted.sets


def _excluded(
    body: people.MetricSet, field: str, bodies: Sequence[people.MetricSet]
) -> tuple[str, ...]:
    """Systems to leave out, each of which some set speaks of."""
    names = body.exclude_systems
    known = set().union(*(all_systems(one) for one in bodies)) if names else set()
    for name in names:
        if name not in known:
            choose(name, sorted(known), field, "system")
    return names


def _choices(fields: people.MetricEvaluationRequest, sets: Sequence[ScoredSet]) -> MetricChoices:
    if fields.level == "system" and fields.group != "none":
        raise RecipeError(
            f"group {fields.group} needs the scores of segments; use level segment.", field="group"
        )
    statistics = _statistics(fields, sets)
    tests = _tests(fields, sets, statistics)
    # a recipe checks these fields; what it would score with is of no meaning here
    shared = {"alternative", "correction", "alpha", "resamples", "seed"}
    recipe = Recipe.of(fields.model_dump(include=shared, exclude_none=True))
    pairs = sum(len(one.metrics) * (len(one.metrics) - 1) // 2 for one in sets)
    decided: dict[str, Any] = {
        "statistics": statistics,
        "tests": tests,
        "resamples": recipe.resolved(max(1, pairs * (1 + (recipe.alternative != "two-sided")))),
        "baseline": _baseline(fields.baseline, sets),
    }
    return MetricChoices.model_validate(
        {**dict(fields), **dict.fromkeys(people.CONTENT), **decided}
    )


def _statistics(
    fields: people.MetricEvaluationRequest, sets: Sequence[ScoredSet]
) -> tuple[str, ...]:
    """The statistics of the request; where it names none, all that the scores allow."""
    refused: dict[str, str] = {}
    if fields.group == "system":
        refused["accuracy_ties"] = (
            "calibrates ties over the systems of each segment; use group none or item"
        )
    if not all(one.allows_soft_accuracy for one in sets):
        refused["soft_accuracy"] = "needs segment scores, of people and of every metric"
    if fields.statistics == ():
        raise RecipeError("statistics must name at least one.", field="statistics")
    return _allowed(fields.statistics, people.STATISTICS, refused, "statistics")


def _tests(
    fields: people.MetricEvaluationRequest, sets: Sequence[ScoredSet], statistics: Sequence[str]
) -> tuple[str, ...]:
    """The tests of the request; where it names none, all that apply."""
    why = ""
    if "pearson" not in statistics:
        why = "compares two of Pearson's r; ask for the statistic pearson"
    elif fields.group != "none":
        why = f"compares two correlations, not means of many; group {fields.group} has perm_both"
    elif any(len(one.systems) < FEWEST_WILLIAMS for one in sets):
        why = f"needs at least {FEWEST_WILLIAMS} systems, as it has n - 3 degrees of freedom"
    refused = {"williams": why} if why else {}
    return _allowed(fields.tests, people.METRIC_TESTS, refused, "tests")


def _allowed(
    named: tuple[str, ...] | None, known: Iterable[str], refused: Mapping[str, str], field: str
) -> tuple[str, ...]:
    """What a request names, if nothing of that is refused; all else that is known by default."""
    if named is None:
        return tuple(name for name in known if name not in refused)
    for name in named:
        if name in refused:
            raise RecipeError(f"{name} {refused[name]}.", field=field)
    return named


def _baseline(named: str | None, sets: Sequence[ScoredSet]) -> str | None:
    """The metric to beat: the one named, or else BLEU where there is one."""
    labels = list(dict.fromkeys(metric.label for one in sets for metric in one.metrics))
    if named is not None:
        return str(choose(named, labels, "baseline", "metric"))
    spelled = sorted((label for label in labels if label.lower().startswith("bleu")), key=len)
    return next((label for label in spelled if label.lower().split("-")[0] == "bleu"), None)


def _check_set(scored: ScoredSet, level: str) -> None:
    """Check that people and every metric share enough systems at the level of the request."""
    path = f"sets.{scored.name}." if scored.name else ""
    where = f" of set {scored.name!r}" if scored.name else ""
    human = scored.human_scores(level)
    metrics = zip(scored.metrics, scored.metric_scores(level), strict=True)
    sources = [("The human scores", f"{path}human.scores", human)] + [
        (f"Metric {metric.label}", f"{path}metrics.{metric.label}", own) for metric, own in metrics
    ]
    for what, field, scores in sources:
        if np.isnan(scores).all():
            have = "have" if scores is human else "has"
            raise InputError(
                f"{what}{where} {have} no {level} scores, which level {level} needs.", field=field
            )
        shared: Flags = ~np.isnan(human + scores).all(axis=1)
        count = int(np.count_nonzero(shared))
        if count < FEWEST_SYSTEMS and scores is not human:
            names = [name for name, both in zip(scored.systems, shared, strict=True) if both]
            raise InputError(
                f"{what} and the human scores share the scores of {count} "
                f"system{'' if count == 1 else 's'} ({', '.join(names) or 'none'}); at least "
                f"{FEWEST_SYSTEMS} are needed.",
                field=field,
            )
