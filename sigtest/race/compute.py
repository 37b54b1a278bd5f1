"""From scores in the order of arrival to the report of a race, at once or as they come."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isfinite
from typing import Annotated, Any

import numpy as np
from pydantic import PlainSerializer, PlainValidator

from sigtest.arrays import Array, Counts, Flags
from sigtest.comparison.comparison import Comparison, StoredComparison, parse_named
from sigtest.data.names import check_name, choose, is_error
from sigtest.engine import sampled
from sigtest.errors import InputError, LimitError, RecipeError
from sigtest.files.material import Material
from sigtest.kinds.base import About, WholeQuestion
from sigtest.kinds.comparisons import ComparisonQuestion
from sigtest.kinds.renderable import Renderable
from sigtest.meta_evaluation.scored import MOST_CELLS, ScoreSource, align, score_source
from sigtest.people.judgements import Judgements
from sigtest.people.question import HumanQuestion, evaluation_in
from sigtest.progress import Progress, silent
from sigtest.race.sequences import FIRST, Sequences, all_pairs
from sigtest.render.standings import abridged
from sigtest.report import Ends, Methods, Sources, WarningReport, Warnings, counted, with_methods
from sigtest.requests.races import MAX_RACING, SOURCES, SequentialRequest
from sigtest.significance.intervals import skewness
from sigtest.special import ndtri
from sigtest.version import __version__

# The report ------------------------


@dataclass(frozen=True)
class RacedSystem:
    """One system.

    Attributes:
        name: As in the request.
        items: Items that it has a score of.
        mean: Of these scores; null without any.
        range: Ranks it may have: 1 + systems that are better, systems - those that are worse.
        may_be_best: Whether no system is better by a decision.
        until: Row with which the search for the best needed no further items of it; null while it
            does.
    """

    name: str
    items: int
    mean: float | None
    range: tuple[int, int]
    may_be_best: bool
    until: int | None


@dataclass(frozen=True)
class RacedPair:
    """Two systems.

    Attributes:
        a: First system.
        b: Second system.
        items: Items that both have.
        difference: Mean of a less b over these; null without any.
        ci: Interval at the corrected level, which holds at all looks together; of scores with a
            scale, the end nearer to 0 goes up to half of that, however large differences are.
        decided: `a` or `b` is better, or null while it is open.
        since: Row with which it was decided.
        remaining: About how many further items decide it, if the systems go on as they do; null
            where it is decided, or nothing can be said.
    """

    a: str
    b: str
    items: int
    difference: float | None
    ci: Ends
    decided: str | None
    since: int | None
    remaining: int | None


@dataclass(frozen=True)
class Look:
    """The interval of a pair after some rows.

    Attributes:
        a: The leader.
        b: The other system.
        row: How many rows had come.
        difference: Mean of the leader less the other.
        ci: Its interval then.
    """

    a: str
    b: str
    row: int
    difference: float
    ci: Ends


@dataclass(frozen=True, repr=False)
class SequentialReport(Renderable):
    """A race, as its rows so far have it.

    Attributes:
        signature: The line that, with the scores, reproduces it.
        version: Of sigtest.
        statistic: What is averaged and decides.
        scale: Lowest and highest score that there can be, where betting sequences decide; null for
            asymptotic ones.
        burn_in: Items of a pair before which asymptotic sequences decide nothing.
        alpha: How often any decision may be false.
        comparisons: Pairs that are corrected for (Bonferroni).
        items: Rows.
        over: Row with which a single system was left that may be the best; null before.
        remaining: About how many further items leave a single system; null where that is so, or
            nothing can be said.
        observations: Scores that came.
        needed: Scores that would have come if each system had stopped at its `until`.
        leader: The system with the best mean of those that may be the best.
        systems: In input order.
        pairs: In input order.
        looks: Of the leader and each other system, from the first rows to all.
        warnings: What the reader must not overlook.
        methods: How the numbers came about, for a paper.
    """

    path = "sequential-comparisons"

    signature: str
    version: str
    statistic: str
    scale: tuple[float, float] | None
    burn_in: int
    alpha: float
    comparisons: int
    items: int
    over: int | None
    remaining: int | None
    observations: int
    needed: int
    leader: str
    systems: tuple[RacedSystem, ...]
    pairs: tuple[RacedPair, ...]
    looks: tuple[Look, ...]
    warnings: Warnings
    methods: Methods | None = None


# From a question to it ------------------------

SECONDS = 1e-7  # for one item of a pair
FEWEST = 2  # systems
PAPERS = ("waudbysmith-etal-2024-timeuniform", "waudbysmith-ramdas-2024-estimating")
LOOKS = 40  # of each course, at most
DRIFTS = 0.01  # level of the test of drift, over all that it looks at
LEAST_ITEMS = 30  # for that test
SKEWED = 0.2  # skewness of differences in units of sqrt(burn-in), above which VALIDITY has misses


@dataclass(frozen=True)
class SequentialQuestion(WholeQuestion):
    """Scores and choices that fit each other.

    Attributes:
        systems: Names, S.
        table: (n, S) scores in the order of arrival, NaN where a system has none; (0, S) where a
            comparison has to be measured for them.
        statistic: What is averaged.
        choices: Without scores; with the metric and direction of a comparison.
        comparison: What is measured.
    """

    noun = "race"

    systems: tuple[str, ...]
    table: Array
    statistic: str
    choices: Annotated[
        SequentialRequest,
        PlainValidator(SequentialRequest.of),
        PlainSerializer(lambda own: own.model_dump(mode="json", exclude_defaults=True)),
    ]
    comparison: StoredComparison | None = None

    def __post_init__(self) -> None:
        """Check sizes.

        Raises:
            InputError: Fewer than two systems, or two of one name.
            LimitError: More than can race.
        """
        if not FEWEST <= len(set(self.systems)) == len(self.systems):
            what = "A race has two systems at least, each with a name of its own."
            raise InputError(what, field="scores")
        if len(self.systems) > MAX_RACING or self.table.size > MOST_CELLS:
            what = f"A race has up to {MAX_RACING} systems and {MOST_CELLS:,} scores."
            raise LimitError(what, limit="scores", field="scores")

    def check(self, items: Sequence[str] = ()) -> None:
        """Check scores against their scale.

        Args:
            items: Their names; they count from 1 where there are none.

        Raises:
            InputError: A score lies outside.
        """
        low, high = self.choices.scale or (-np.inf, np.inf)
        for i, s in np.argwhere((self.table < low) | (self.table > high)).tolist():
            name, item = self.systems[s], items[i] if items else i + 1
            what = f"{self.statistic.removeprefix('mean ')} is {self.table[i, s]:g}"
            raise InputError(
                f"System {name!r}, item {item}: {what}, outside of the scale from {low:g} to "
                f"{high:g}.",
                field=f"scores.{name}",
                system=name,
            )

    def rows(self, scores: Mapping[str, Array], items: Sequence[str] = ()) -> Array:
        """(n, S) further scores, from those of each system that has any.

        Raises:
            SigtestError: Another system, or a score outside of the scale.
        """
        for name in scores:
            choose(name, self.systems, "scores", "system of the race")
        none = np.full_like(next(iter(scores.values())), np.nan)
        table = np.stack([scores.get(name, none) for name in self.systems], axis=1)
        replace(self, table=table).check(items)
        return table

    @property
    def about(self) -> About:
        """Systems and what is averaged."""
        return About(self.systems, (self.statistic,))

    @property
    def comparisons(self) -> int:
        """Pairs that are corrected for."""
        return len(self.systems) * (len(self.systems) - 1) // 2

    @property
    def seconds(self) -> float:
        """About how long one core computes it."""
        measuring = ComparisonQuestion(self.comparison).measuring if self.comparison else 0.0
        return 0.1 + measuring + SECONDS * self.table.size * len(self.systems)


def parse(
    request: Mapping[str, Any], files: Sequence[tuple[str, bytes]] = ()
) -> SequentialQuestion:
    """Check a request of the form of POST /v1/sequential-comparisons.

    Args:
        request: Choices, and `scores` by system, or `comparison`, or `human`.
        files: Name and bytes of files of judgements, for `human`.

    Raises:
        SigtestError: Scores that cannot be used, or a choice that does not fit them.
    """
    wanted = SequentialRequest.of(request)
    sources = {name: getattr(wanted, name) for name in SOURCES if getattr(wanted, name) is not None}
    if files:
        sources.setdefault("human", {})
    if len(sources) != 1:
        what = f"A race is about one of {', '.join(SOURCES)}; {len(sources)} are given."
        raise InputError(what, field="scores")
    choices = wanted.model_copy(update=dict.fromkeys(SOURCES))
    if "comparison" in sources:
        return _of_comparison(parse_named(sources["comparison"], "A race"), choices)
    if "scores" in sources:
        return of_scores(sources["scores"], choices)
    human = sources["human"]
    if "evaluation" not in human:  # as given: to standardise takes scores that come later
        human = {"standardise": "none", **human}
    evaluation = evaluation_in(human, files)
    if evaluation is None or not isinstance(evaluation.judgements, Judgements):
        raise InputError("human must have judgements with scores, or an evaluation.", field="human")
    return _of_people(evaluation, choices)


def of_scores(
    scores: Mapping[str, Any], choices: SequentialRequest, statistic: str = ""
) -> SequentialQuestion:
    """The question about scores, lists or by id of the item.

    Raises:
        SigtestError: What is no score, none at all, outside of the scale, or too much.
    """
    source, rows = _rows(scores)
    table = np.stack([*rows.values()], axis=1)
    if not np.isfinite(table).any():
        raise InputError("There are no scores; a race has one item at least.", field="scores")
    made = SequentialQuestion(tuple(rows), table, statistic or mean_of(choices), choices)
    made.check([] if source.lists else [*source.ids])
    return made


def scores_in(found: Material) -> dict[str, tuple[Any, ...]]:
    """Scores of each system in a file, in the order of its rows.

    Raises:
        InputError: Scores by several metrics, or none.
    """
    if len(found.score_labels) != 1:
        what = ", ".join(found.score_labels) or "none"
        raise InputError(f"{found.name} must have scores by one metric, not {what}.")
    return {own.system: own.values for own in found.scores}


def batch_of(scores: Mapping[str, Any]) -> tuple[list[str], dict[str, Array]]:
    """Names of the n items of a batch, and (n,) scores of each system, NaN where it has none.

    Args:
        scores: By system, an object by name of the item.

    Raises:
        InputError: None, lists, or what is no score.
    """
    source, rows = _rows(scores)
    if source.lists:
        what = "Scores of a batch must name their items: for each system an object by item."
        raise InputError(what, field="scores")
    some: Flags = np.any(np.isfinite([*rows.values()]), axis=0)
    if not some.any():
        raise InputError("There are no scores; a batch has one at least.", field="scores")
    items = [item for item, known in zip(source.ids, some.tolist(), strict=True) if known]
    return items, {name: row[some] for name, row in rows.items()}


def _rows(scores: Mapping[str, Any]) -> tuple[ScoreSource, dict[str, Array]]:
    source = score_source({"segment": scores}, "scores", "scores")
    return source, align([source])[0][0]


def mean_of(choices: SequentialRequest) -> str:
    """What is averaged where scores are given."""
    return f"mean {choices.metric or 'score'}"


def _of_comparison(comparison: Comparison, choices: SequentialRequest) -> SequentialQuestion:
    """A comparison by one metric, which says whether less is better."""
    if comparison.recipe.design != "paired":
        what = "A race goes item by item; leave out unpaired and numbers."
        raise RecipeError(what, field="comparison")
    labels, systems = comparison.recipe.labels, comparison.plan.systems
    label = choose(choices.metric or labels[0], labels, "metric", "metric of the comparison")
    metric = comparison.recipe.metrics[labels.index(label)]
    recipe = comparison.recipe.but(metrics=(metric,), resamples=comparison.plan.resamples)
    lower = choices.lower or not metric.higher_is_better
    choices = choices.model_copy(update={"lower": lower, "metric": label})
    statistic, none = f"mean {label} of a {recipe.unit}", np.empty((0, len(systems)))
    return SequentialQuestion(systems, none, statistic, choices, replace(comparison, recipe=recipe))


def _of_people(evaluation: HumanQuestion, choices: SequentialRequest) -> SequentialQuestion:
    """Mean scores of segments or documents by the first criterion, more being better."""
    criterion = evaluation.choices.criteria[0]
    units = evaluation.prepared.units[criterion]
    what = f"standardised {criterion}" if units.standardised else criterion
    choices = choices.model_copy(update={"metric": criterion})
    statistic = f"mean {what} of a {evaluation.choices.aggregate}"
    return of_scores(units.by_name(evaluation.prepared.systems), choices, statistic)


def compute(
    question: SequentialQuestion, progress: Progress | None = None, came: Array | None = None
) -> SequentialReport:
    """The report of a race: a function of the scores in their order, the choices and the version.

    Args:
        question: Scores and choices.
        progress: Called with the phase `statistics`, done and total, where texts are measured.
        came: When scores came, where some came after those of later items; see `Sequences.add`.

    Raises:
        InputError: A score outside of the scale.
    """
    if question.comparison is not None:  # scores of segments or documents, replicas together
        (sample,) = sampled(question.comparison, progress or silent).parts
        rows = sample.metrics[0].score(sample.tables[0]).tolist()
        scores = dict(zip(question.systems, rows, strict=True))
        question = of_scores(scores, question.choices, question.statistic)
    sequences = started(question)
    sequences.add(question.table, came)
    return reported(question, sequences, came)


def started(question: SequentialQuestion, pairs: Counts | None = None) -> Sequences:
    """The sequences of a race before its first item: of all pairs, or of these."""
    choices = question.choices
    width = choices.scale[1] - choices.scale[0] if choices.scale else None
    every = all_pairs(len(question.systems)) if pairs is None else pairs
    return Sequences(every, choices.alpha / question.comparisons, width, choices.burn_in)


@dataclass(frozen=True)
class Standing:
    """What follows from the decisions so far.

    Attributes:
        won: (S,) systems that each is better than.
        lost: (S,) systems that are better.
        until: (S,) row with which each stopped; 0 where it races on.
        over: Row with which one was left; none before.
    """

    won: Counts
    lost: Counts
    until: Counts
    over: int | None


def standing(sequences: Sequences, question: SequentialQuestion) -> Standing:
    """What follows from the decisions so far.

    A system stops when one that races is better; what pairs say after that is not used, as a race
    that stops systems does not know it.
    """
    systems, (first, second) = len(question.systems), sequences.pairs.T
    winner = np.where((sequences.decided == FIRST) != question.choices.lower, first, second)
    loser = first + second - winner
    apart = np.flatnonzero(sequences.decided)
    won, lost = (np.bincount(own[apart], minlength=systems) for own in (winner, loser))
    until, racing, over = np.zeros(systems, int), systems, 0
    for p in apart[np.argsort(sequences.since[apart], kind="stable")].tolist():
        if racing > 1 and not until[winner[p]] and not until[loser[p]]:
            until[loser[p]] = over = sequences.since[p]
            racing -= 1
    last = int(over) if racing == 1 else 0
    return Standing(won, lost, np.where(until == 0, last, until), last or None)


def reported(
    question: SequentialQuestion, sequences: Sequences, came: Array | None = None
) -> SequentialReport:
    """What the sequences say, once all items of a question were added."""
    names, choices, scores = question.systems, question.choices, question.table
    now = standing(sequences, question)
    there = np.isfinite(scores)
    items = there.sum(axis=0)
    means = np.where(there, scores, 0.0).sum(axis=0) / np.maximum(items, 1)
    best = np.where((now.lost == 0) & (items > 0), -means if choices.lower else means, -np.inf)
    leader, remaining = int(np.argmax(best)), sequences.remaining()
    close = (sequences.pairs == leader).any(axis=1) & (now.lost[sequences.pairs] == 0).all(axis=1)
    rest = remaining[close]
    stops = np.where(now.until > 0, now.until, len(scores))
    chosen = choices.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    parts = {"statistic": question.statistic, **chosen, "comparisons": question.comparisons}
    stated = [f"{name}:{value}" for name, value in parts.items()]
    report = SequentialReport(
        signature="|".join(["race", *stated, f"sigtest:{__version__}"]),
        version=__version__,
        statistic=question.statistic + " (lower is better)" * choices.lower,
        scale=choices.scale,
        burn_in=choices.burn_in,
        alpha=choices.alpha,
        comparisons=question.comparisons,
        items=len(scores),
        over=now.over,
        remaining=int(rest.max()) if len(rest) and rest.all() else None,
        observations=int(items.sum()),
        needed=int((there & (np.arange(len(scores))[:, None] < stops)).sum()),
        leader=names[leader],
        systems=tuple(
            RacedSystem(
                name, int(items[s]), float(means[s]) if items[s] else None,
                (1 + int(now.lost[s]), len(names) - int(now.won[s])),
                not now.lost[s], int(now.until[s]) or None,
            )
            for s, name in enumerate(names)
        ),
        pairs=tuple(_pairs(question, sequences, remaining)),
        looks=tuple(_looks(question, leader, came)),
        warnings=tuple(_warnings(question, sequences, leader)),
    )  # fmt: skip
    return with_methods(report, sentences)


def _pairs(
    question: SequentialQuestion, sequences: Sequences, remaining: Counts
) -> Iterator[RacedPair]:
    names, counts = question.systems, sequences.counts.tolist()
    words = (None, "b", "a") if question.choices.lower else (None, "a", "b")
    means, ends = sequences.means.tolist(), sequences.intervals().tolist()
    for p, (a, b) in enumerate(sequences.pairs.tolist()):
        yield RacedPair(
            names[a], names[b], int(counts[p]), means[p] if counts[p] else None, tuple(ends[p]),
            words[sequences.decided[p]], int(sequences.since[p]) or None, int(remaining[p]) or None,
        )  # fmt: skip


def _looks(question: SequentialQuestion, leader: int, came: Array | None) -> Iterator[Look]:
    """The leader's differences from all others, after rows that lie evenly."""
    scores, names = question.table, question.systems
    others = [s for s in range(len(names)) if s != leader]
    sequences = started(question, np.array([(leader, s) for s in others], int))
    ends = np.unique(np.linspace(0, len(scores), LOOKS + 1).round().astype(int)).tolist()
    for start, stop in pairwise(ends):
        sequences.add(scores, came, (start, stop))
        found = zip(others, sequences.means.tolist(), sequences.intervals().tolist(), strict=True)
        for s, mean, (low, high) in found:
            if isfinite(low) and isfinite(mean):
                yield Look(names[leader], names[s], stop, mean, (low, high))


def _warnings(
    question: SequentialQuestion, sequences: Sequences, leader: int
) -> Iterator[WarningReport]:
    names, choices = question.systems, question.choices
    columns = question.table.T
    known = question.table[np.isfinite(question.table)]
    if choices.scale is None and len(known) and np.isin(known, (0, 1)).all():
        yield WarningReport(
            "scale",
            "All scores are 0 or 1; where there can be no others, say so: --scale 0,1 (in JSON "
            "[0, 1]), with which decisions hold from the first item on.",
        )
    if is_error(choices.metric or "") and not choices.lower and known.min(initial=0.0) >= 0:
        yield WarningReport(
            "direction",
            f"{choices.metric} has the name of an error rate, and greater is read as better; where "
            "lower is better, say so: --lower (in JSON, lower is true).",
        )
    skewed = [
        (names[a], names[b])
        for a, b in (sequences.pairs.tolist() if choices.scale is None else ())
        if _skewness(columns[a] - columns[b]) > SKEWED * choices.burn_in**0.5
    ]
    if skewed:
        which = abridged([f"{a} and {b}" for a, b in skewed])
        yield WarningReport(
            "skewed",
            f"Differences are skewed, as of rare failures: {which}. Decisions are false "
            "more often than alpha says; give the scale of the scores, or a longer burn-in.",
            pairs=tuple(skewed),
        )
    drifting = [
        f"differences of {names[leader]} and {name}"
        for name, own in zip(names, columns, strict=True)
        if _drifts(columns[leader] - own, len(names))
    ]
    if drifting := ["scores"] * _drifts(columns[leader], len(names)) + drifting:
        yield WarningReport(
            "order",
            f"Items do not seem to come in random order: {abridged(drifting)} rise, fall, or are "
            "like those of the item before. Intervals and decisions need random order.",
        )


def _skewness(d: Array) -> float:
    """Size of the skewness of differences; 0 where they do not vary."""
    known = d[np.isfinite(d)]
    return abs(float(skewness(known[None])[0])) if len(known) else 0.0


def _drifts(values: Array, systems: int) -> bool:
    """Whether values go with the row or with the value before.

    In random order both correlations have a mean of about 0 and a variance of about 1 / n.
    """
    known = values[np.isfinite(values)]
    n = len(known)
    if n < LEAST_ITEMS or np.ptp(known) == 0:
        return False
    z = (known - known.mean()) / known.std()
    trend = abs(float(z @ (np.arange(n) - (n - 1) / 2))) / (n**3 / 12) ** 0.5
    near = float(z[1:] @ z[:-1]) / n**0.5
    return max(trend, near) > -float(ndtri(DRIFTS / (3 * systems)))


def sentences(report: SequentialReport, sources: Sources) -> Iterator[str]:
    """Which sequences decide, at which level, and what they need."""
    low, high = report.scale or (0, 0)
    how = f"asymptotic confidence sequences from {report.burn_in} items on"
    if report.scale:
        how = f"betting confidence sequences for scores from {low:g} to {high:g}"
    yield (
        f"Differences in {report.statistic} of {counted(len(report.systems), 'system')} were "
        f"looked at after each of {report.items:,} items, by {how}"
        f"{sources.cite(PAPERS[bool(report.scale)])}, Bonferroni-corrected for "
        f"{counted(report.comparisons, 'pair')}: at most {100 * report.alpha:g} % of races have "
        "any false decision at any look, if items come in random order."
    )


class Race:
    """A race in a notebook or a program, which takes items as they come.

        >>> race = Race(["new", "old", "older"], scale=(0, 1))
        >>> for item in range(60):
        ...     race.add({"new": 1, "old": item % 2, "older": 0})
        >>> race.standing().over, race.report().leader
        (21, 'new')

    Args:
        systems: All that race, also those that join late.
        **choices: Fields of POST /v1/sequential-comparisons, such as `scale`.

    Raises:
        SigtestError: Choices or names that cannot be used.
    """

    def __init__(self, systems: Iterable[str], **choices: Any) -> None:
        names, wanted = tuple(map(check_name, systems)), SequentialRequest.of(choices)
        none, statistic = np.empty((0, len(names))), mean_of(wanted)
        self._question = SequentialQuestion(names, none, statistic, wanted)
        self._rows = [self._question.table]
        self.sequences = started(self._question)

    def add(self, scores: Mapping[str, Any]) -> None:
        """Take one item, or several.

        Args:
            scores: By system, a number or a list of as many of each; those that have none are left
                out.

        Raises:
            SigtestError: Scores that cannot be used.
        """
        listed = {name: np.ravel(value).tolist() for name, value in scores.items()}
        rows = self._question.rows(_rows(listed)[1])
        self._rows.append(rows)
        self.sequences.add(rows)

    def standing(self) -> Standing:
        """What follows from the decisions so far."""
        return standing(self.sequences, self._question)

    def report(self) -> SequentialReport:
        """The report so far: that of all items at once."""
        whole = replace(self._question, table=np.concatenate(self._rows))
        return reported(whole, self.sequences)
