"""What is asked about metrics: sets of scores, choices, and how a request says them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from pydantic import PlainSerializer, PlainValidator

from sigtest.arrays import Flags
from sigtest.cached import cached_property
from sigtest.data.names import check_name, choose, system_name
from sigtest.data.text import check_list
from sigtest.errors import InputError, RecipeError, inside
from sigtest.files.folders import EvalSet
from sigtest.files.judgements import read_scores, reads_scores
from sigtest.files.registry import is_judged
from sigtest.kinds.base import About, WholeQuestion
from sigtest.meta_evaluation.scored import (
    FEWEST_SYSTEMS,
    ScoredSet,
    all_systems,
    metric_systems,
    scored_set,
)
from sigtest.people.compute import compute
from sigtest.people.judgements import Comparisons
from sigtest.people.question import HumanQuestion, evaluation_in, match_systems, spellings
from sigtest.report import WarningReport, Warnings
from sigtest.requests import people
from sigtest.requests.people import Judging
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
    known = sorted(set().union(*(all_systems(one) for one in bodies))) if names else []
    for name in names:
        choose(name, known, field, "system")
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


# Scores that files bring, or other questions ------------------------

PARTS = {
    "judgements": "Files of judgements by people, recognised by what is in them, or one table of "
    "their scores.",
    "human": "Instead of judgements: a table of scores by people, of systems or of segments.",
    "scores": "Tables of scores, one a metric and called like it (`chrf.tsv`): lines of system and "
    "score, a system once or once for each segment, or columns with a header. Where less is better "
    'the request says so: `{"metrics": {"ter": {"higher": false}}}`.',
    "evalset": "Instead of all others: an archive of an EvalSet of mt-metrics-eval. The request "
    'says which languages and which human scores: `{"lp": "he-en", "gold": "mqm"}`; `lp` may be a '
    "list, and `metrics` a list of labels.",
}
EVALSET = ("lp", "gold")

Files = Sequence[tuple[str, bytes]]


def with_files(
    request: Mapping[str, Any], files: Mapping[str, Files]
) -> tuple[Mapping[str, Any], Files]:
    """A request with what its files bring, and the files of judgements.

    Args:
        request: As it came.
        files: Name and bytes of the files of each part.

    Raises:
        SigtestError: A file that cannot be used, or that brings what is there already.
    """
    archives = files.get("evalset", ())
    if archives:
        if len(archives) > 1 or any(files[part] for part in files if part != "evalset"):
            raise InputError("A form with an EvalSet brings no other file.", field="evalset")
        with inside("evalset"):
            evalset = EvalSet.of_archive(archives[0][1], archives[0][0])
        return with_evalset(request, evalset), ()
    for field in EVALSET:
        if field in request:
            raise InputError(
                f"{field} says what to read of an evalset; none is there.", field=field
            )
    judgements = files.get("judgements", ())
    body = dict(request)
    people = files.get("human", ())
    if not people and len(judgements) == 1 and reads_scores(judgements[0][1], judgements[0][0]):
        people, judgements = judgements, ()
    if people:
        human = body.get("human", {})
        judging = isinstance(human, Mapping) and set(human) <= {*Judging.model_fields}
        if len(people) > 1 or judgements or not judging:
            raise InputError("Give one file of human scores, or judgements.", field="human")
        if human:
            raise InputError(
                f"{people[0][0]} has scores by people; leave out {', '.join(human)}, which says "
                "what becomes of judgements.",
                field="human",
            )
        body["human"] = {"scores": _people(*people[0])}
    if tables := files.get("scores", ()):
        body["metrics"] = _with_tables(body.get("metrics", {}), tables)
    return body, judgements


def _people(name: str, data: bytes) -> dict[str, Any]:
    """Scores by people, of which more is better."""
    try:
        scores = _table("human", name, data)
    except InputError:
        if reads_scores(data, name) or not is_judged(data, name):
            raise
        raise InputError(
            f"{name} has judgements and not one score of each system or segment; give it as the "
            "part judgements.",
            field="human",
        ) from None
    if scores.pop("higher", True) is False:
        raise InputError(
            f"{name} says that less is better (higher_is_better), and of scores by people more "
            "is; turn their sign round.",
            field="human",
        )
    return scores


def _table(part: str, name: str, data: bytes) -> dict[str, Any]:
    with inside(part):
        return read_scores(data, name)


def _with_tables(metrics: object, tables: Files) -> dict[str, Any]:
    """Metrics of files beside those of the request, which may also say more of these."""
    if not isinstance(metrics, Mapping):
        raise InputError("metrics must be an object by label.", field="metrics")
    labels = [system_name(name) for name, _ in tables]
    scores = {label: spec for label, spec in metrics.items() if label not in labels}
    for label, (name, data) in zip(labels, tables, strict=True):
        if labels.count(label) > 1:
            raise InputError(f"Two files bring the scores of {label}.", field="scores")
        spec = metrics.get(label, {})
        if not isinstance(spec, Mapping) or {"system", "segment"} & set(spec):
            raise InputError(
                f"The scores of {label} come as a file and in the request; give one.",
                field=f"metrics.{label}",
            )
        scores[label] = {**_table("scores", name, data), **spec}
    return scores


def with_evalset(request: Mapping[str, Any], evalset: EvalSet) -> dict[str, Any]:
    """A request with the scores of an EvalSet.

    Args:
        request: Its `lp` and `gold` say which; `metrics` may be a list of labels.
        evalset: The EvalSet.

    Raises:
        SigtestError: A field is missing or cannot be used, or a file of the EvalSet.
    """
    body = dict(request)
    for field in ("human", "sets"):
        if field in body:
            raise InputError(f"An EvalSet brings {field}; leave it out.", field=field)
    lp, gold = (body.pop(field, None) for field in EVALSET)
    labels = body.pop("metrics", None)
    if labels is not None:
        labels = [str(label) for label in check_list(labels, "metrics")]
    for field, value in (("lp", lp), ("gold", gold)):
        if value is None:
            raise InputError(
                f"{field} says what to read of the EvalSet; it is missing: "
                '{"lp": "he-en", "gold": "mqm"}, say.',
                field=field,
            )
    if isinstance(lp, list | tuple):
        scores = evalset.requests([str(pair) for pair in lp], str(gold), labels)
    else:
        scores = evalset.request(str(lp), str(gold), labels)
    if "exclude_systems" in body and "exclude_systems" in scores:
        read, more = scores["exclude_systems"], body["exclude_systems"]
        more = check_list(more, "exclude_systems")
        body["exclude_systems"] = [*read, *(name for name in more if name not in read)]
    return {**scores, **body}


def from_comparison(report: Mapping[str, Any]) -> dict[str, Any]:
    """The `metrics` part of a request, from the JSON of a comparison's report.

    Soft accuracy takes the one-sided p-values of approximate randomization of the corpus scores,
    where the comparison has them; from a two-sided one, half of it is on the side of the better
    system.

    Args:
        report: With `systems`, `metrics` and `pairs`.
    """
    field, systems = "metrics.comparison", report.get("systems")
    if "testsets" in report:
        raise InputError(f"{field} must be about one test set; this is about several.", field=field)
    if not isinstance(systems, list):
        raise InputError(f"{field}: the report has no systems.", field=field)
    metrics: dict[str, Any] = {}
    for label, about in report["metrics"].items():
        higher = bool(about["higher_is_better"])
        rows = [
            pair
            for pair in report["pairs"]
            if pair["metric"] == label and pair["test"] == "approximate_randomization"
        ]
        claims = {
            (row["a"], row["b"])[:: -1 if row["alternative"] == "less" else 1]: row["p_value"]
            for row in rows
        }
        pairs = [_one_sided(row, higher, claims) for row in rows]
        metrics[label] = {
            "higher": higher,
            "system": {row["name"]: row["scores"][label]["score"] for row in systems},
            **({"pairs": pairs} if pairs else {}),
        }
    return metrics


def _one_sided(
    pair: Mapping[str, Any], higher: bool, claims: Mapping[tuple[str, str], float]
) -> dict[str, Any]:
    """A pair's p-value for a being better, and for b where that was tested, or nothing differs.

    Args:
        pair: As a report has it.
        higher: False for error metrics.
        claims: One-sided p-values, by the better and the worse system.
    """
    p = float(pair["p_value"])
    if pair["difference"] == 0:
        return {"a": pair["a"], "b": pair["b"], "p_greater": p, "p_less": p}
    both = {"a": pair["a"], "b": pair["b"]}
    if pair["alternative"] == "two-sided":
        ahead = (pair["difference"] > 0) == higher
        return {**both, "p_greater": p / 2 if ahead else 1 - p / 2}
    p_greater, p_less = claims.get((pair["a"], pair["b"])), claims.get((pair["b"], pair["a"]))
    if p_less is None:  # against a baseline one claim is made
        return {**both, "p_greater": p_greater}
    return {**both, "p_greater": 1 - p_less if p_greater is None else p_greater, "p_less": p_less}


def scores_of(
    question: HumanQuestion, systems: Sequence[str], exclude: Sequence[str] = ()
) -> tuple[dict[str, Any], Warnings]:
    """Evaluate judgements, and call systems by the names that metrics have for them.

    Args:
        question: A human evaluation.
        systems: Names of systems among the metrics, without those to be left out.
        exclude: Names of those.

    Returns:
        `human.scores` of a request, and what the report should warn of.

    Raises:
        InputError: A system that only one side has.
    """
    aliases = question.choices.aliases
    judged = [s for s in question.systems if not set(spellings(s, aliases)) & set(exclude)]
    matched = match_systems(judged, systems, aliases)
    names = {name: matched.outputs[name] for name in judged if name in matched.outputs}
    if isinstance(question.judgements, Comparisons):
        report = compute(question)
        known = [row for row in report.systems if row.name in names and row.raw is not None]
        shares = {names[row.name]: row.raw for row in known}
        return {"system": shares}, left_out(matched.references, "metric scores")
    prepared = question.prepared
    columns = prepared.judgements
    averaged = prepared.averaged
    means = {
        names[name]: float(averaged.tested[averaged.of(s)].mean())
        for s, name in enumerate(prepared.systems)
        if name in names
    }
    notes = (*question.notes, *left_out(matched.references, "metric scores"))
    scores: dict[str, Any] = {"system": means}
    if all(name.isdecimal() for name in columns.segment.names):
        segments = prepared.pooled.by_name(prepared.systems)
        scores["segment"] = {names[name]: row for name, row in segments.items() if name in names}
    else:
        sentence = (
            "Judged segments are not numbered, so that they cannot be matched with segments of "
            "metrics: only scores of systems are used."
        )
        notes += (WarningReport("unused", sentence),)
    return scores, notes


def left_out(references: Sequence[str], lacking: str) -> tuple[WarningReport, ...]:
    """That human translations were judged, which have no scores or outputs."""
    names = ", ".join(references)
    sentence = f"Judged human translations without {lacking} are left out: {names}."
    return (WarningReport("left-out", sentence, tuple(references)),) if references else ()
