"""From judgements to scores: quality control, standardisation, means of units, gains."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.draws.product import fixed_point
from sigtest.draws.weights import bootstrap_counts
from sigtest.errors import InputError
from sigtest.people.annotators import CARELESS, UNTESTABLE, control
from sigtest.people.judgements import Judgements, Kind, Names, groups
from sigtest.people.report import AnnotatorsReport, CriterionGain, GainFigures, GainReport
from sigtest.people.statistics import interval, rank_sum
from sigtest.requests.people import HumanRequest, Longitudinal
from sigtest.significance.intervals import as_printed, with_ties

PAIRED = ("signed_rank", "approximate_randomization")


@dataclass(frozen=True)
class Units:
    """Scores of (system, unit), a unit being a segment or a document, sorted by system and unit.

    Attributes:
        system: (u,) number of the system.
        unit: (u,) name of the unit.
        raw: (u,) mean score as given; NaN where unknown.
        z: (u,) mean standardised score; NaN where there is none.
        judged: (u,) judgements in it.
    """

    system: Counts
    unit: Names
    raw: Array
    z: Array
    judged: Counts

    def of(self, system: int) -> slice:
        """Where the units of one system lie."""
        first, last = np.searchsorted(self.system, [system, system + 1]).tolist()
        return slice(first, last)

    @property
    def standardised(self) -> bool:
        """Whether all scores are."""
        return len(self.z) > 0 and bool(np.isfinite(self.z).all())

    @property
    def tested(self) -> Array:
        """(u,) what tests are run on: standardised scores where there are any."""
        return self.z if self.standardised else self.raw

    def tied(self, *, as_given: bool = False) -> Array:
        """(u,) the same, those made equal that only rounding tells apart.

        Args:
            as_given: Whether scores are not standardised here; where they came so they have as many
                digits as R prints, on which published p-values rest.
        """
        tested = self.tested
        if as_given and tested is self.z:
            return as_printed(tested)
        return with_ties(tested, float(np.abs(tested).max(initial=0.0)))

    def differences(self, scores: Array, a: int, b: int) -> tuple[Counts, Array]:
        """Numbers of the units that two systems have, and a - b of their (u,) scores there."""
        first, second = self.of(a), self.of(b)
        units, i, j = np.intersect1d(
            self.unit.codes[first], self.unit.codes[second], assume_unique=True, return_indices=True
        )
        return units, scores[first][i] - scores[second][j]

    def by_name(self, systems: Sequence[str]) -> dict[str, dict[str, float]]:
        """Tested scores by name of the system and of the unit."""
        scores: dict[str, dict[str, float]] = {name: {} for name in systems}
        for row, score in enumerate(self.tested.tolist()):
            scores[systems[self.system[row]]][str(self.unit.at(row))] = score
        return scores


def standardised(judgements: Judgements, rule: str) -> tuple[Array, Flags]:
    """Scores in units of their annotator's mean and standard deviation.

    z = (x - mean) / sd over all of an annotator's judgements by one criterion, sd with n - 1;
    `annotator_no_refs` takes mean and sd without degraded outputs and references (EACL 2014,
    footnote 4).

    Returns:
        (n,) z, and (n,) flags of judgements that have none: sd 0 or a single judgement.
    """
    j = judgements
    who, _ = groups(j.annotator.codes, j.criterion.codes)
    counted = np.ones(len(j), bool)
    if rule == "annotator_no_refs":
        counted = (j.kind != Kind.BAD_REF) & (j.kind != Kind.REF)
    size = int(who.max(initial=0)) + 1
    n = np.bincount(who[counted], minlength=size).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(who[counted], j.raw[counted], minlength=size) / n
        off = j.raw - mean[who]
        squares = np.bincount(who[counted], off[counted] ** 2, minlength=size)
        sd = np.sqrt(squares / (n - 1))
        # scores that are all alike have an sd of rounding errors
        alike = ~(sd > 1e-12 * np.maximum(np.abs(mean), 1e-300)) | (n < 2)
        z = off / sd[who]
    return z, alike[who]


def segment_scores(judgements: Judgements, criteria: Sequence[str]) -> Units:
    """Mean over SYSTEM and REPEAT judgements of every (system, segment) by some criteria."""
    rows = judgements.scored & judgements.criterion.among(criteria)
    segment, judged = judgements.segment, judgements.judged[rows]
    scores = judgements.raw[rows], judgements.z[rows], judged, judged.astype(float)
    return _means(judgements.system.codes[rows], Names(segment.names, segment.codes[rows]), *scores)


def document_scores(segments: Units, judgements: Judgements) -> Units:
    """Mean over the segments of every (system, document).

    A segment is of the document of its first judgement.
    """
    document = judgements.document
    of = np.zeros(len(judgements.segment.names), int)
    of[judgements.segment.codes[::-1]] = document.codes[::-1]
    units = Names(document.names, of[segments.unit.codes])
    ones = np.ones(len(segments.raw))
    return _means(segments.system, units, segments.raw, segments.z, segments.judged, ones)


def _means(
    system: Counts, unit: Names, raw: Array, z: Array, judged: Counts, weights: Array
) -> Units:
    """Means by (system, unit); a row of several judgements counts as often."""
    place, first = groups(system, unit.codes)
    total = np.bincount(place, weights)
    return Units(
        system=system[first],
        unit=Names(unit.names, unit.codes[first]),
        raw=np.bincount(place, raw * weights) / total,
        z=np.bincount(place, z * weights) / total,
        judged=np.bincount(place, judged).astype(int),
    )


@dataclass(frozen=True)
class Prepared:
    """Judgements that count, and their scores.

    Attributes:
        judgements: Of annotators who stay, standardised if that was chosen.
        annotators: Quality control; nothing where annotators are unknown.
        dropped: For each source, rows left out here by reason.
        systems: Names of the systems that have judgements.
        segments: Scores of segments by criterion.
        pooled: Scores of segments, criteria together.
        units: Scores of what counts as one observation, segments or documents, by criterion.
        averaged: The same, criteria together.
        tested: (u,) tested scores of these units by criterion, ties made equal.
    """

    judgements: Judgements
    annotators: AnnotatorsReport | None
    dropped: tuple[Mapping[str, int], ...]
    systems: tuple[str, ...]
    segments: Mapping[str, Units]
    pooled: Units
    units: Mapping[str, Units]
    averaged: Units
    tested: Mapping[str, Array]


def prepare(judgements: Judgements, sources: int, choices: HumanRequest) -> Prepared:
    """Leave out annotators, standardise, and average.

    Args:
        judgements: All that were read.
        sources: How many files they come from.
        choices: Decided.

    Raises:
        InputError: A score to be standardised is nobody's, a system or criterion has no judgement
            left, or a paired test has no pairs.
    """
    systems = judgements.system[judgements.scored].names
    dropped: list[dict[str, int]] = [{} for _ in range(sources)]
    annotators = control(judgements, choices)
    if annotators and choices.quality is not None:
        verdicts = np.array([*(one.verdict for one in annotators.each), UNTESTABLE])
        own = verdicts[judgements.annotator.codes]
        for lost in (CARELESS, UNTESTABLE)[: 1 + (choices.quality.untestable == "drop")]:
            judgements = judgements.without(own == lost, f"{lost} annotator", dropped)
            own = own[own != lost]
    if choices.standardise != "none":
        _require_annotators(judgements)
        z, alike = standardised(judgements, str(choices.standardise))
        judgements = replace(judgements, z=z)
        judgements = judgements.without(alike, "annotator without variance", dropped)
    _require_left(judgements, systems, choices, dropped)
    outputs = np.unique(judgements.system.codes[judgements.scored])  # others name a reference only
    judgements = judgements.take(np.isin(judgements.system.codes, outputs))
    names = judgements.system.names
    segments = {name: segment_scores(judgements, [name]) for name in choices.criteria}
    pooled = segment_scores(judgements, choices.criteria)
    units, averaged = segments, pooled
    if choices.aggregate == "document":
        units = {name: document_scores(scores, judgements) for name, scores in segments.items()}
        averaged = document_scores(pooled, judgements)
    as_given = choices.aggregate == "segment" and choices.standardise == "none"
    tested = {name: scores.tied(as_given=as_given) for name, scores in units.items()}
    for scores in units.values() if choices.test in PAIRED else ():
        _require_shared(scores, names, str(choices.test))
    return Prepared(
        judgements, annotators, tuple(dropped), names, segments, pooled, units, averaged, tested
    )


def _require_annotators(judgements: Judgements) -> None:
    """Every score is somebody's, whose mean it is held against."""
    nobody = judgements.annotator.codes < 0
    if nobody.any():
        row = int(np.argmax(nobody))
        system, segment = judgements.system.at(row), judgements.segment.at(row)
        raise InputError(
            f"{np.count_nonzero(nobody):,} of {len(judgements):,} judgements do not say who judged "
            f"(the first is of system {system!r}, segment {segment!r}), so that their scores "
            "cannot be standardised. Name every annotator, or leave scores as they are "
            '(standardise "none").',
            field="judgements",
            system=system,
        )


def _require_left(
    judgements: Judgements,
    systems: Sequence[str],
    choices: HumanRequest,
    dropped: Sequence[Mapping[str, int]],
) -> None:
    """Every system that was judged still has a judgement of each criterion."""
    for criterion in choices.criteria:
        rows = judgements.scored & judgements.criterion.among([criterion])
        left = judgements.system[rows].names
        if missing := [name for name in systems if name not in left]:
            reasons = sum(map(Counter, dropped), Counter[str]())
            lost = ", ".join(f"{reason} {n:,}" for reason, n in reasons.items())
            raise InputError(
                f"No judgement of {criterion} is left of {', '.join(missing[:12])}; every system "
                "needs some of each criterion by an annotator who is not left out."
                f"{f' Rows left out: {lost}.' if lost else ''}",
                field="judgements",
                system=missing[0],
            )


def _require_shared(units: Units, names: Sequence[str], test: str) -> None:
    """Every two systems have a unit in common."""
    for a, b in combinations(range(len(names)), 2):
        if not len(units.differences(units.raw, a, b)[0]):
            raise InputError(
                f"{names[a]!r} and {names[b]!r} were judged on no unit in common, so {test} cannot "
                "pair their scores; rank_sum needs no pairs.",
                field="test",
                system=names[b],
            )


OLD, NEW = 1, 2  # streams of the draws of the two test sets
MEMORY = 32 << 20  # bytes of a block of draws
STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
MEAN = "mean"


def gains(
    by_criterion: Mapping[str, Units], names: Sequence[str], choices: HumanRequest
) -> tuple[GainReport, ...]:
    """Gain of every language pair; for several, their unweighted mean comes last.

    Args:
        by_criterion: Scores of segments.
        names: Of the systems.
        choices: With the four systems of each language pair.
    """
    found = []
    for name, four in choices.longitudinal.items():
        numbers = {role: names.index(system) for role, system in four}
        criteria = {
            criterion: _gain(units, numbers, choices) for criterion, units in by_criterion.items()
        }
        found.append(_report(name, criteria))
    if len(found) > 1:
        found.append(_report(MEAN, _mean_gains([report.criteria for report in found])))
    return tuple(found)


def figures(means: Mapping[str, float], ci: tuple[float, float] | None = None) -> GainFigures:
    """Delta and gain from four means.

    Args:
        means: By the names of `Longitudinal`.
        ci: Of the gain.
    """
    delta = means["current_old"] - means["current_new"]
    return GainFigures(
        **means, delta=delta, gain=means["best_new"] - means["best_old"] + delta, ci=ci
    )


def mean_figures(pairs: Sequence[GainFigures]) -> GainFigures | None:
    """Unweighted mean over language pairs, as in Table 3; nothing where there are none."""
    if not pairs:
        return None
    roles = Longitudinal.model_fields
    return figures({role: float(np.mean([getattr(one, role) for one in pairs])) for role in roles})


def harmonic(adequacy: float, fluency: float) -> float | None:
    """F1 of two gains (Figure 1); nothing where one is not positive."""
    if adequacy <= 0 or fluency <= 0:
        return None
    return 2 * adequacy * fluency / (adequacy + fluency)


def _report(name: str, criteria: Mapping[str, CriterionGain]) -> GainReport:
    both = [criteria.get("adequacy"), criteria.get("fluency")]
    f1 = []
    for unit in ("raw", "z"):
        known = [getattr(own, unit) for own in both if own is not None]
        whole = len(known) == 2 and None not in known
        f1.append(harmonic(known[0].gain, known[1].gain) if whole else None)
    return GainReport(name, criteria, *f1)


def _mean_gains(pairs: Sequence[Mapping[str, CriterionGain]]) -> dict[str, CriterionGain]:
    means = {}
    for criterion in pairs[0]:
        gained = [criteria[criterion] for criteria in pairs]
        raw = mean_figures([gain.raw for gain in gained if gain.raw is not None])
        z = mean_figures([gain.z for gain in gained if gain.z is not None])
        means[criterion] = CriterionGain(raw, z, p_current=None, p_best=None, stars={})
    return means


def _gain(units: Units, systems: Mapping[str, int], choices: HumanRequest) -> CriterionGain:
    """Gain of one language pair by one criterion."""
    places = {role: units.of(system) for role, system in systems.items()}
    tested = units.tied(as_given=choices.standardise == "none")
    stars: dict[str, str] = {}
    p = {}
    for which in ("current", "best"):
        old, new = f"{which}_old", f"{which}_new"
        tails = rank_sum(np.sort(tested[places[old]]), np.sort(tested[places[new]]))
        old_is_larger = tested[places[old]].mean() >= tested[places[new]].mean()
        p[which] = tails.greater if old_is_larger else tails.less
        shown = next((star for limit, star in STARS if p[which] < limit), "")
        if shown:
            stars[old if old_is_larger else new] = shown
    return CriterionGain(
        raw=_figures(units, units.raw, places, choices),
        z=_figures(units, units.z, places, choices),
        p_current=p["current"],
        p_best=p["best"],
        stars=stars,
    )


def _figures(
    units: Units, scores: Array, places: Mapping[str, slice], choices: HumanRequest
) -> GainFigures | None:
    if not np.isfinite(scores).all():
        return None
    means = {role: float(scores[place].mean()) for role, place in places.items()}
    own = {role: (units.unit.codes[place], scores[place]) for role, place in places.items()}
    old = _draws(own["best_old"], own["current_old"], OLD, choices)
    new = _draws(own["best_new"], own["current_new"], NEW, choices)
    drawn = new[0] - old[0] + old[1] - new[1]
    drawn = drawn[np.isfinite(drawn)]
    if len(drawn) < choices.resamples / 2:
        return figures(means)
    return figures(means, interval(drawn, choices.alpha))


def _draws(
    best: tuple[Counts, Array], current: tuple[Counts, Array], stream: int, choices: HumanRequest
) -> Array:
    """(2, R) means of two systems when the segments of their test set are drawn anew."""
    units, place = np.unique(np.concatenate([best[0], current[0]]), return_inverse=True)
    table = np.zeros((len(units), 4))
    split = len(best[0])
    table[place[:split], 0], table[place[:split], 1] = best[1], 1.0
    table[place[split:], 2], table[place[split:], 3] = current[1], 1.0
    table = fixed_point(table)  # so that sums are the same on every machine
    means = []
    rows = max(1, MEMORY // (8 * len(units)))
    for start in range(0, choices.resamples, rows):
        stop = min(start + rows, choices.resamples)
        counts = bootstrap_counts(choices.seed, start, stop, len(units), stream)
        sums = counts.astype(float) @ table
        with np.errstate(invalid="ignore", divide="ignore"):
            means.append(np.stack([sums[:, 0] / sums[:, 1], sums[:, 2] / sums[:, 3]]))
    return np.concatenate(means, axis=1)
