"""Human and metric scores of the same systems, aligned by name and segment, from a JSON request."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sigtest.arrays import Array
from sigtest.data.names import check_name, choose
from sigtest.data.testset import LARGEST
from sigtest.data.text import check_list
from sigtest.errors import InputError, LengthError, LimitError, quoted
from sigtest.files.file import SPARSEST
from sigtest.report import WarningReport, Warnings
from sigtest.requests.people import EACH, HUMAN, MetricSet, TestedSystems

LEVELS = ("system", "segment")
MOST_CELLS = 5_000_000
FEWEST_SYSTEMS = 3
NUMBERS = {int, float, type(None)}


@dataclass(frozen=True)
class MetricScores:
    """One metric's scores of the systems of a set; NaN where it has none.

    Attributes:
        label: What the report calls it.
        higher: Whether greater is better.
        system: (S,) scores of whole systems, or none.
        segment: (S, n) scores of segments, or none.
        better: (S, S) one-sided p-values of a significance test for the row's system being better
            than the column's by this metric; none where they are to come from segment scores.
    """

    label: str
    higher: bool
    system: Array | None
    segment: Array | None
    better: Array | None

    @property
    def sign(self) -> float:
        """1, or -1 for error rates: what turns a score so that greater is better."""
        return 1.0 if self.higher else -1.0


@dataclass(frozen=True)
class ScoredSet:
    """Validated when parsed; everything that follows may trust it.

    Attributes:
        name: Of the set; empty where there is only one.
        systems: Those that people judged, that some metric scores and that are not excluded, S, in
            the order of the human scores.
        human_system: (S,) human scores of whole systems, or none.
        human_segment: (S, n) human scores of segments, NaN where not judged, or none.
        metrics: In input order.
        ignored: Systems that a metric scores and people did not judge.
        unscored: Systems that people judged and no metric scores.
        excluded: Systems left out as the request says.
        notes: What the report should warn of.
        judgements: Signature of the human evaluation that the human scores come from, if any.
    """

    name: str
    systems: tuple[str, ...]
    human_system: Array | None
    human_segment: Array | None
    metrics: tuple[MetricScores, ...]
    ignored: tuple[str, ...] = ()
    unscored: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    notes: Warnings = ()
    judgements: str = ""

    @property
    def segments(self) -> int:
        """Segments that segment scores are over; 0 without any."""
        return 0 if self.human_segment is None else int(self.human_segment.shape[1])

    @property
    def allows_soft_accuracy(self) -> bool:
        """Whether there are segment scores, or p-values, of people and of each metric."""
        return self.human_segment is not None and all(
            metric.segment is not None or metric.better is not None for metric in self.metrics
        )

    def human_scores(self, level: str) -> Array:
        """(S, n) human scores at a level, NaN where there are none; n is 1 for whole systems."""
        return self._table(self.human_system if level == "system" else self.human_segment, level)

    def metric_scores(self, level: str) -> Array:
        """(M, S, n) scores of the metrics at a level, turned so that greater is better."""
        tables = [
            metric.sign * self._table(metric.system if level == "system" else metric.segment, level)
            for metric in self.metrics
        ]
        return np.array(tables)

    def _table(self, scores: Array | None, level: str) -> Array:
        columns = 1 if level == "system" else self.segments
        if scores is None:
            return np.full((len(self.systems), columns), np.nan)
        return scores.reshape(len(self.systems), columns)


@dataclass(frozen=True)
class ScoreSource:
    """What people or one metric bring: scores of systems, of segments, or both, not yet aligned.

    Attributes:
        what: What to call the source in messages.
        field: Its place in the request.
        system: Scores of whole systems.
        lists: (n,) scores of segments by system, NaN where missing.
        named: Scores by segment id, by system.
    """

    what: str
    field: str
    system: Mapping[str, float]
    lists: Mapping[str, Array]
    named: Mapping[str, Mapping[str, float]]

    @property
    def systems(self) -> dict[str, None]:
        """All that have a score of either kind, in input order."""
        return dict.fromkeys((*self.system, *self.lists, *self.named))

    @property
    def ids(self) -> dict[str, None]:
        """Segment ids in order of first appearance."""
        return {id_: None for row in self.named.values() for id_ in row}

    @property
    def sizes(self) -> list[int]:
        """How many scores each system has."""
        return [len(row) for row in (*self.lists.values(), *self.named.values())]


def scored_set(body: MetricSet, name: str, path: str, exclude: Sequence[str]) -> ScoredSet:
    """One set of a request.

    Args:
        body: With scores of people.
        name: Of the set; empty where there is only one.
        path: Its place in the request, with a dot at the end; empty likewise.
        exclude: Systems to leave out.

    Raises:
        SigtestError: Something is missing, unknown, no number, or does not fit the rest.
    """
    for field, needed in (("human", HUMAN), ("metrics", EACH)):
        if getattr(body, field) is None:
            what = f"{path}{field} is missing; it must be {needed.words}."
            raise InputError(what, field=path + field)
    human, metrics = _people(body.human or {}, path), body.metrics or {}
    sources = [
        score_source(
            spec.chosen(),
            f"metric {label}",
            f"{path}metrics.{check_name(label, 'metric', f'{path}metrics')}",
        )
        for label, spec in metrics.items()
    ]
    everyone = [human, *sources]
    people, left_out = human.systems, {*exclude}
    judged = {system: None for system in people if system not in left_out}
    for source in sources:
        _require_shared(human, source, judged)
    scored = {system: None for source in sources for system in source.systems}
    systems = tuple(system for system in judged if system in scored)
    with_segments = [source for source in everyone if source.sizes]
    paired = sum("pairs" in spec.model_fields_set for spec in metrics.values())
    _require_room(with_segments, len(systems), paired, path)
    rows, notes = align(with_segments)
    n = max((len(row) for by_system in rows for row in by_system.values()), default=0)
    missing = np.full(n, np.nan)
    tables = {
        source.field: np.array([by_system.get(system, missing) for system in systems])
        for source, by_system in zip(with_segments, rows, strict=True)
    }
    return ScoredSet(
        name=name,
        systems=systems,
        human_system=_system_scores(human, tables, systems),
        human_segment=tables.get(human.field),
        metrics=tuple(
            MetricScores(
                label=label,
                higher=spec.higher,
                system=_system_scores(source, tables, systems),
                segment=tables.get(source.field),
                better=_better(spec.pairs, systems) if "pairs" in spec.model_fields_set else None,
            )
            for (label, spec), source in zip(metrics.items(), sources, strict=True)
        ),
        ignored=tuple(name for name in scored if name not in people and name not in left_out),
        excluded=tuple(name for name in exclude if name in people or name in scored),
        unscored=tuple(system for system in judged if system not in scored),
        notes=tuple(notes),
    )


def all_systems(body: MetricSet) -> set[str]:
    """Names of all systems that a set speaks of, as far as they can be read without checks."""
    return {*_systems((body.human or {}).get("scores")), *metric_systems(body)}


def metric_systems(body: MetricSet) -> dict[str, None]:
    """Names of all systems that a set's metrics score, likewise, in input order."""
    known = (body.metrics or {}).values()
    return {name: None for spec in known for name in _systems(spec.chosen())}


def _systems(scores: object) -> list[str]:
    if not isinstance(scores, Mapping):
        return []
    levels = [scores[level] for level in LEVELS if isinstance(scores.get(level), Mapping)]
    return [str(name) for table in levels or [scores] for name in table]


def _people(human: Mapping[str, Any], path: str) -> ScoreSource:
    for field in human:
        choose(field, ("scores",), f"{path}human.{field}", "field of human")
    field = f"{path}human.scores"
    scores = human.get("scores")
    if not isinstance(scores, Mapping) or not scores:
        raise InputError(
            f"{field} must be an object with the human scores of systems, of segments, or both.",
            field=field,
        )
    if not set(scores) <= set(LEVELS) or not all(isinstance(v, Mapping) for v in scores.values()):
        numbers = all(isinstance(value, int | float | None) for value in scores.values())
        scores = {"system" if numbers else "segment": scores}
    return score_source(scores, "human scores", field)


def score_source(body: Mapping[str, Any], what: str, field: str) -> ScoreSource:
    """Scores of systems, and for each system a list of scores or an object of them by segment id.

    Raises:
        InputError: No object, a bad name, or something that is no finite number.
    """
    if not any(level in body for level in LEVELS):
        raise InputError(f"{what}: neither system nor segment scores are given.", field=field)
    system: dict[str, float] = {}
    lists: dict[str, Array] = {}
    named: dict[str, dict[str, float]] = {}
    if "system" in body:
        place = f"{field}.system"
        rows = _by_system(body["system"], what, place)
        numbers = _numbers(list(rows.values()), list(rows), what, place)
        system = dict(zip(rows, numbers.tolist(), strict=True))
    if "segment" in body:
        for name, row in _by_system(body["segment"], what, f"{field}.segment").items():
            here, place = f"{what}, system {name!r}", f"{field}.segment.{name}"
            if isinstance(row, Mapping):
                ids = [str(id_) for id_ in row]
                numbers = _numbers(list(row.values()), ids, here, place, name)
                named[name] = dict(zip(ids, numbers.tolist(), strict=True))
            else:
                values = check_list(row, place)
                lists[name] = _numbers(values, range(1, len(values) + 1), here, place, name)
    return ScoreSource(what, field, system, lists, named)


def _by_system(body: object, what: str, field: str) -> Mapping[str, object]:
    if not isinstance(body, Mapping) or not body:
        raise InputError(f"{what} must be an object with the scores of each system.", field=field)
    for name in body:
        check_name(name, field=field)
    return body


def _numbers(
    values: Sequence[Any],
    places: Sequence[object],
    what: str,
    field: str,
    system: str | None = None,
) -> Array:
    """Numbers with NaN for null; the first that is neither is named by its place."""
    for i, value in enumerate(values):
        if type(value) not in NUMBERS or (value is not None and not abs(value) <= LARGEST):
            raise InputError(
                f"{what}, {'segment' if system else 'system'} {places[i]!r}: "
                f"{quoted(value, 40)} is not a finite number (of at most {LARGEST:g}) or null.",
                field=field,
                system=system or str(places[i]),
                line=i + 1 if system else None,
            )
    return np.array(values, float)


def align(sources: Sequence[ScoreSource]) -> tuple[list[dict[str, Array]], list[WarningReport]]:
    """Bring all sources of a set onto the same segments.

    Lists are of segments 1 to n. Where there are no lists, the segments are those that the sources
    after the first (the metrics) name.

    Args:
        sources: People first, then metrics; those that have segment scores.

    Returns:
        For each source (n,) scores by system, and what to warn of.

    Raises:
        LengthError: Lists of unequal lengths.
        InputError: Segment ids that are not in the test set.
    """
    length = _length(sources)
    if length is None:
        known = {id_: None for source in sources[1:] or sources for id_ in source.ids}
    else:
        known = {str(i): None for i in range(1, length + 1)}
    places = {id_: i for i, id_ in enumerate(known)}
    aligned, notes = [], []
    for source in sources:
        # ids that can only be numbers from 0, where the lists are of segments from 1
        ids, last = source.ids, str(length)
        numbered = all(id_.isdecimal() and len(id_) <= len(last) for id_ in ids)
        shift = length is not None and numbered and "0" in ids and last not in ids
        if shift:
            sentence = (
                f"{source.what} numbers segments from 0, and lists are of segments from 1: id 0 "
                "is read as segment 1."
            )
            notes.append(WarningReport("reading", sentence))
        rows = dict(source.lists)
        for name, row in source.named.items():
            rows[name] = np.full(len(places), np.nan)
            for id_, value in row.items():
                rows[name][_place(id_, places, shift, source, name)] = value
        aligned.append(rows)
    return aligned, notes


def _length(sources: Sequence[ScoreSource]) -> int | None:
    """How long all lists are; nothing where there are none."""
    first: tuple[str, int] | None = None
    for source in sources:
        for name, row in source.lists.items():
            first = first or (f"{source.what}, system {name!r}", len(row))
            if len(row) != first[1]:
                raise LengthError(
                    f"{source.what}, system {name!r}: {len(row)} segment scores, where {first[0]} "
                    f"has {first[1]}; give one for each segment, null where there is none.",
                    field=f"{source.field}.segment.{name}",
                    system=name,
                )
    return None if first is None else first[1]


def _place(
    id_: str, places: Mapping[str, int], shift: bool, source: ScoreSource, system: str
) -> int:
    known = str(int(id_) + 1) if shift else id_
    if known not in places:
        few = ", ".join(list(places)[:5])
        raise InputError(
            f"{source.what}, system {system!r}: segment {id_!r} is not in the test set, whose "
            f"{len(places)} segments are {few}{', ...' if len(places) > 5 else ''}.",
            field=f"{source.field}.segment.{system}",
            system=system,
        )
    return places[known]


def _system_scores(
    source: ScoreSource, tables: Mapping[str, Array], systems: Sequence[str]
) -> Array | None:
    """(S,) as given; where none are, the mean of each system's segment scores."""
    if source.system:
        return np.array([source.system.get(system, np.nan) for system in systems])
    table = tables.get(source.field)
    if table is None:
        return None
    counts = np.count_nonzero(~np.isnan(table), axis=1)
    sums = np.nansum(table, axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _better(pairs: Iterable[TestedSystems], systems: Sequence[str]) -> Array:
    """(S, S) one-sided p-values, where the metric brings them."""
    place = {system: i for i, system in enumerate(systems)}
    better = np.full((len(systems), len(systems)), np.nan)
    for pair in pairs:
        if pair.a in place and pair.b in place:
            a, b = place[pair.a], place[pair.b]
            better[a, b] = pair.p_greater
            better[b, a] = 1.0 - pair.p_greater if pair.p_less is None else pair.p_less
    return better


def _require_shared(human: ScoreSource, metric: ScoreSource, systems: Container[str]) -> None:
    """Check that people and a metric speak of the same systems."""
    shared = [system for system in metric.systems if system in systems]
    if len(shared) < FEWEST_SYSTEMS:
        raise InputError(
            f"{metric.what} and the human scores share "
            f"{'no system' if not shared else f'only {len(shared)} of the systems'}; at least "
            f"{FEWEST_SYSTEMS} are needed. Human: {', '.join(human.systems)}. "
            f"{metric.what}: {', '.join(metric.systems)}.",
            field=metric.field,
        )


def _require_room(sources: Sequence[ScoreSource], systems: int, paired: int, path: str) -> None:
    """Check what the tables of all sources will have, before they are made."""
    sizes = [size for source in sources for size in source.sizes]
    ids = {id_ for source in sources for id_ in source.ids}
    n = max([len(ids), *(len(row) for source in sources for row in source.lists.values())])
    cells = (len(sizes) + len(sources) * systems) * n + paired * systems**2
    for what, count, limit in (
        ("human", systems * max(n, systems), MOST_CELLS),
        ("metrics", cells, max(MOST_CELLS, SPARSEST * sum(sizes))),
    ):
        if count > limit:
            raise LimitError(
                f"{path}{what} has {count:,} segment scores, with those that are missing; at most "
                f"{limit:,} are accepted.",
                limit="rows",
                field=f"{path}{what}",
            )
