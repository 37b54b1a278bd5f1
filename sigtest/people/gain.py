"""Longitudinal gain: how much better today's best systems are, at equal difficulty of test sets.

Graham, Baldwin, Moffat & Zobel 2014 (EACL), section 4. One system of today translates both test
sets; the difference of its scores says how much harder the new one is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.draws.product import fixed_point
from sigtest.draws.weights import bootstrap_counts
from sigtest.people.report import CriterionGain, GainFigures, GainReport
from sigtest.people.scores import Units
from sigtest.people.statistics import interval, rank_sum
from sigtest.requests.people import HumanRequest, Longitudinal

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
    place = {name: i for i, name in enumerate(names)}
    found = []
    for name, four in choices.longitudinal.items():
        numbers = {role: place[system] for role, system in four.model_dump().items()}
        criteria = {
            criterion: _gain(units, numbers, choices) for criterion, units in by_criterion.items()
        }
        found.append(_report(name, criteria))
    if len(found) > 1:
        found.append(_report(MEAN, _means([report.criteria for report in found])))
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


def mean_figures(given: Sequence[GainFigures]) -> GainFigures:
    """Unweighted mean over language pairs, as in Table 3."""
    roles = Longitudinal.model_fields
    return figures({role: float(np.mean([getattr(own, role) for own in given])) for role in roles})


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


def _means(pairs: Sequence[Mapping[str, CriterionGain]]) -> dict[str, CriterionGain]:
    means = {}
    for criterion in pairs[0]:
        own = [criteria[criterion] for criteria in pairs]
        raw = [entry.raw for entry in own if entry.raw is not None]
        z = [entry.z for entry in own if entry.z is not None]
        means[criterion] = CriterionGain(
            raw=mean_figures(raw) if raw else None,
            z=mean_figures(z) if z else None,
            p_current=None,
            p_best=None,
            stars={},
        )
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
    own = {role: (units.unit[place], scores[place]) for role, place in places.items()}
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
        sums = counts.astype(np.float64) @ table
        with np.errstate(invalid="ignore", divide="ignore"):
            means.append(np.stack([sums[:, 0] / sums[:, 1], sums[:, 2] / sums[:, 3]]))
    return np.concatenate(means, axis=1)
