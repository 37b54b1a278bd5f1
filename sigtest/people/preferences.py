"""The report of comparisons of two systems: strengths, pairs, and how far these may be trusted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.cached import cached_property
from sigtest.errors import InputError
from sigtest.files.material import examples
from sigtest.people import annotators, bradley_terry, report
from sigtest.people.bradley_terry import Strengths
from sigtest.people.decisions import decide, ranks, undecided
from sigtest.people.judgements import Comparisons, added, groups, pairs_within
from sigtest.people.statistics import Tails, logarithm, student
from sigtest.report import WarningReport, counted
from sigtest.requests.people import HumanRequest
from sigtest.significance import CORRECTIONS
from sigtest.special import betainc, gammaincc, ndtri, stdtrit

if TYPE_CHECKING:
    from sigtest.people.question import HumanQuestion

PREFERENCE = "preference"  # the criterion of comparisons that name none
RELATIONS = 3  # before, tied, behind
FEW = 30  # units, below which errors are rough
WORST = 5  # pairs that fit worst
NAMED = 5  # systems in one sentence
DESIGN = 1.1  # how much larger variances make another unit worth a warning
POWER = 0.8  # with which a share of wins is to be shown
SUSPECT = 0.05  # p-value of positions and of fit, at which the report warns
OUTSIDE = 1e9  # stronger than any other, in the order
LEAST = 1e-300  # of a variance
DIGITS = 9  # of sums of weights
FLAT = 1e-9  # share of the information that is rounding


def numbered(judged: Comparisons) -> dict[str, Counts]:
    """(n,) number of the unit of each comparison, from 0, by known unit, the finest first.

    Comparisons that do not say of which item or judge they are, where others do, stand alone.
    """
    units = {"judgement": np.arange(len(judged))}
    columns = {"cluster": judged.cluster, "item": judged.segment, "judge": judged.annotator}
    for unit, column in columns.items():
        if column.known:
            alone = len(column.names) + units["judgement"]
            units[unit] = groups(np.where(column.codes < 0, alone, column.codes))[0]
    return units


def repeated(judged: Comparisons) -> dict[str, Counts]:
    """Units that hold several comparisons, and of which there are several; and judgements."""
    return {
        unit: codes
        for unit, codes in numbered(judged).items()
        if unit == "judgement" or 0 < codes.max() < len(judged) - 1
    }


@dataclass(frozen=True)
class Fitted:
    """Strengths of the systems, in the parts that determine them.

    Attributes:
        judged: All comparisons.
        units: (n,) number of the unit of each.
        at: The maximum.
        within: All comparisons, those between parts with the weight 0.
    """

    judged: Comparisons
    units: Counts
    at: Strengths
    within: Comparisons

    @classmethod
    def of(cls, judged: Comparisons, choices: HumanRequest) -> Fitted:
        """The maximum, ties being half wins where they have none."""
        units = repeated(judged).get(str(choices.unit), np.arange(len(judged)))
        won, ties = judged.won, float(judged.ties.sum())
        at = bradley_terry.fit(won, ties, choices.ties == "davidson")
        at = at or bradley_terry.fit(won, ties, davidson=False)
        if at is None:
            why = "Some wins are too nearly certain to compute strengths; write 0 and 1 for them."
            raise InputError(why, field="judgements")
        first, second = at.part[judged.system.codes].T
        weight = np.where(first == second, judged.weight, 0.0)
        return cls(judged, units, at, replace(judged, weight=weight))

    def sandwich(self, units: Counts) -> tuple[Array, Array]:
        """Scatter of the scores of some units, and the (S, S) covariance of strengths."""
        scatter = bradley_terry.scatter(self.at, self.within, units)
        whole: Array = self.at.inverse @ scatter[:-1, :-1] @ self.at.inverse
        return scatter, whole[:-1, :-1]

    def against(self, system: int) -> tuple[int, tuple[Array, Counts, Array]]:
        """Whether a system outside won (1) or lost (-1) its comparisons with the largest part.

        And of each of these the opponent's strength, turned round if it lost; unit and weight.
        """
        codes = self.judged.system.codes
        mine = codes == system
        rows = np.flatnonzero(mine.any(axis=1) & (self.at.part[codes] == 0).any(axis=1))
        opponents = codes[rows][~mine[rows]]
        won = 1 if (self.judged.share[rows] == mine[rows, 0]).all() else -1
        theta = won * self.at.theta[opponents]
        return won, (theta, groups(self.units[rows])[0], self.judged.weight[rows])

    @cached_property
    def order(self) -> Array:
        """(S,) by which systems are ordered: who beats whom comes first, then strengths."""
        reached = bradley_terry.reaching(self.judged.won).astype(int)
        return OUTSIDE * (reached.sum(axis=1) - reached.sum(axis=0)) + self.at.theta

    @property
    def number(self) -> int:
        """How many units there are."""
        return int(self.units.max()) + 1

    def reach(self, alpha: float) -> float:
        """Half the length of intervals, in standard errors."""
        return float(stdtrit(max(self.number - 1, 1), 1 - alpha / 2))


def _apart(covariance: Array) -> Array:
    """(m, m) variances of differences of strengths."""
    own = np.diag(covariance)
    return np.add.outer(own, own) - 2 * covariance


def _roots(variances: Array, expected: Array) -> Array:
    """Standard errors; infinite where nothing varies, such as over ties alone or one unit."""
    return np.sqrt(np.where(variances > FLAT * expected, variances, math.inf))


def _errors(at: Strengths, covariance: Array) -> Array:
    """(m, m) standard errors of differences of strengths."""
    return _roots(_apart(covariance), _apart(at.inverse[:-1, :-1]))


def wald(at: Strengths, covariance: Array, units: int) -> Array:
    """(m, m) p-values of the claims that the row's system is better than the column's.

    Student's t with as many degrees of freedom as there are units, less one; 1 between parts.
    """
    df, t = max(units - 1, 1), at.distances / _errors(at, covariance)
    half = 0.5 * betainc(df / 2, 0.5, df / (df + t * t))
    return np.where(at.same, np.where(t > 0, half, 1 - half), 1.0)


def preference_report(question: HumanQuestion, judged: Comparisons) -> report.HumanReport:
    """The report of comparisons."""
    choices = question.choices
    known = bradley_terry.determined(bradley_terry.parts(judged.won))
    outside = tuple(judged.system.names[s] for s in np.flatnonzero(~known))
    dropped: list[dict[str, int]] = [{} for _ in question.sources]
    if choices.undetermined == "leave_out":
        lost = np.any(~known[judged.system.codes], axis=1)
        judged = judged.without(lost, "of undetermined systems", dropped)
    fitted = Fitted.of(judged, choices)
    (scatter, covariance), drawn, without = fitted.sandwich(fitted.units), 0, None
    others = tuple(_other_units(fitted, covariance, choices))
    if choices.errors == "bootstrap":
        drawn = choices.resamples
        covariance, without = bradley_terry.resample(
            fitted.at, fitted.within, fitted.units, drawn, choices.seed
        )
    pairs, correction = _pairs(fitted, covariance, choices), CORRECTIONS[str(choices.correction)]
    preferences = report.PreferencesReport(
        comparisons=len(judged),
        tied=float(judged.ties.sum() / judged.weight.sum()),
        ties="davidson" if fitted.at.davidson else "half",
        nu=math.exp(fitted.at.log_nu) if fitted.at.davidson else None,
        unit=str(choices.unit),
        units=fitted.number,
        errors=str(choices.errors),
        resamples=drawn,
        without_maximum=without,
        rank_confidence=1 - choices.alpha if correction.familywise else None,
        undetermined=outside,
        other_units=others,
        fit=_fit(fitted, scatter),
        position=_position(fitted, scatter),
        win_rate=choices.win_rate,
        needed=_needed(fitted, covariance, choices),
    )
    return report.HumanReport(
        **question.stated(dropped),
        tested="preferences",
        annotators=annotators.control(judged, choices),
        systems=tuple(_systems(fitted, covariance, pairs, choices.alpha)),
        pairs=tuple(pairs),
        agreement=_agreement(judged, choices),
        gain=(),
        warnings=(*question.notes, *_warnings(preferences, pairs, choices)),
        preferences=preferences,
    )


def _pairs(fitted: Fitted, covariance: Array, choices: HumanRequest) -> list[report.JudgedPair]:
    """All pairs of systems, decided."""
    names, at, ties = fitted.judged.system.names, fitted.at, fitted.judged.tied
    won, p = fitted.judged.won - ties / 2, wald(at, covariance, fitted.number)
    reach = fitted.reach(choices.alpha) * _errors(at, covariance)
    for s in np.flatnonzero(at.part).tolist():
        way, against = fitted.against(s)
        for m in np.flatnonzero(at.part == 0).tolist():
            claim = (s, m) if way > 0 else (m, s)
            p[claim] = bradley_terry.all_won(at, way * at.theta[m], *against)
    rows = []
    for a, b in combinations(np.argsort(-fitted.order, kind="stable").tolist(), 2):
        difference = probability = ends = None
        if at.part[a] == at.part[b]:
            difference, half = float(at.theta[a] - at.theta[b]), float(reach[a, b])
            probability = at.preferred(difference)
            ends = (difference - half, difference + half) if math.isfinite(half) else None
        met, both = round(float(won[a, b] + won[b, a]), DIGITS), (float(p[a, b]), float(p[b, a]))
        met = int(met) if met.is_integer() else met
        about = names[a], names[b], choices.criteria[0], str(choices.test)
        tails = Tails(float(won[a, b]), *both, logarithm(min(both)))
        more = {"ties": float(ties[a, b]), "probability": probability, "ci": ends}
        rows.append(undecided(about, (met, met), difference, tails, **more))
    return decide(rows, choices.alpha, str(choices.correction))


def _systems(
    fitted: Fitted, covariance: Array, pairs: Sequence[report.JudgedPair], alpha: float
) -> Iterator[report.JudgedSystem]:
    judged = fitted.judged
    won = judged.won - judged.tied / 2
    wins, decisive = won.sum(axis=1).tolist(), (won + won.T).sum(axis=1).tolist()
    stands = ranks(pairs, judged.system.names, fitted.order)
    for s in np.argsort(-fitted.order, kind="stable").tolist():
        rows = (judged.system.codes == s).any(axis=1)
        yield report.JudgedSystem(
            name=judged.system.names[s],
            n_judgements=len(np.unique(judged.row[rows])),
            n_segments=len({*judged.segment.codes[rows].tolist()} - {-1}),
            raw=100 * wins[s] / decisive[s] if decisive[s] else None,
            z=None,
            sd=None,
            ci=None,
            cluster=stands[s].cluster,
            range=(stands[s].lowest, stands[s].highest),
            criteria={},
            strength=_strength(fitted, covariance, s, alpha),
        )


def _strength(
    fitted: Fitted, covariance: Array, system: int, alpha: float
) -> report.StrengthReport:
    """What the comparisons say of one system."""
    at, known = fitted.at, bradley_terry.determined(fitted.at.part)
    value = error = probability = None
    low, high = -math.inf, math.inf
    if known[system]:
        value = float(at.theta[system])
        spread = float(_roots(covariance[system, system], at.inverse[system, system]))
        half, error = fitted.reach(alpha) * spread, spread if math.isfinite(spread) else None
        low, high, probability = value - half, value + half, at.preferred(value)
    elif known.any():
        won, against = fitted.against(system)
        if len(against[0]):
            end = bradley_terry.bound(at, *against, alpha / 2)
            low, high = (end, high) if won > 0 else (low, -end)
    ends = at.preferred(low), at.preferred(high)
    return report.StrengthReport(value, error, (low, high), probability, ends)


def _other_units(
    fitted: Fitted, covariance: Array, choices: HumanRequest
) -> Iterator[report.UnitReport]:
    """What would follow if other units were drawn anew, all errors being sandwiches."""
    apart = ~np.eye(len(covariance), dtype=bool)
    same = apart & fitted.at.same
    own = _errors(fitted.at, covariance)[same]

    def claimed(covariance: Array, units: int) -> Flags:
        p = wald(fitted.at, covariance, units)[apart]
        return CORRECTIONS[str(choices.correction)].adjust(p) <= choices.alpha

    base = claimed(covariance, fitted.number)
    for unit, units in repeated(fitted.judged).items():
        if unit != choices.unit and len(own) and np.isfinite(own).all():
            number, other = int(units.max()) + 1, fitted.sandwich(units)[1]
            found = claimed(other, number)
            changed = int(np.count_nonzero(found != base))  # strengths, and so signs, are the same
            design = float(np.median(_apart(other)[same] / own**2))
            yield report.UnitReport(unit, number, int(found.sum()), changed, design)


def _fit(fitted: Fitted, scatter: Array) -> report.FitReport | None:
    """Whether one order explains all pairs: Pearson's chi-square over them."""
    at, won, size = fitted.at, fitted.within.won, len(fitted.at.theta)
    first, second = np.nonzero(np.triu(won + won.T, 1))
    free = size - int(at.part.max()) - 1  # strengths
    df = len(first) - free
    if df < 1:
        return None
    dispersion = float(np.trace(scatter[:size, :size] @ at.inverse[:size, :size])) / free
    if dispersion <= FLAT:
        return None
    n = (won + won.T)[first, second]
    win, tie, loss = at.outcomes(at.distances[first, second])
    off = won[first, second] - n * (win + tie / 2)
    z = off / np.sqrt(np.maximum(n * (win + loss - (win - loss) ** 2) / 4 * dispersion, LEAST))
    square = float((z**2).sum())
    names = fitted.judged.system.names
    worst = [
        report.FitPair(
            names[first[k]], names[second[k]], float(n[k]),
            float(won[first[k], second[k]] / n[k]), float(win[k] + tie[k] / 2), float(z[k]),
        )
        for k in np.argsort(-np.abs(z), kind="stable")[:WORST].tolist()
    ]  # fmt: skip
    p = float(gammaincc(df / 2, square / 2))
    return report.FitReport(square, df, dispersion, p, tuple(worst))


def _position(fitted: Fitted, scatter: Array) -> report.PositionReport | None:
    """Effect of standing first: one step of Newton's method from no effect, all else fitted."""
    at, judged, shown = fitted.at, fitted.within, fitted.within.shown
    win, _, inside, mixed = (part * shown for part in bradley_terry.residuals(at, judged))
    first, second = judged.system.codes.T
    beside = added(first, inside, len(at.inverse)) - added(second, inside, len(at.inverse))
    beside[-1] = mixed.sum() * at.davidson
    information = float(inside.sum() - beside @ at.inverse @ beside)
    way = np.append(-at.inverse @ beside, 1.0)
    noise = way @ scatter @ way
    if information <= FLAT * inside.sum() or noise <= FLAT * information:
        return None  # unknown, or the same of the two always stands first, or nothing varies
    effect, error = float(win.sum()) / information, math.sqrt(noise) / information
    share, df = np.average(judged.share, weights=judged.weight * shown), fitted.number - 1
    p = 2 * min(student(effect / error, df)[1:3]) if df else 1.0
    return report.PositionReport(float(share), effect, error, p)


def _needed(fitted: Fitted, covariance: Array, choices: HumanRequest) -> int | None:
    """Comparisons of two systems that show a share of wins, from the normal distribution."""
    size, share = len(covariance), choices.win_rate
    if share is None:
        return None
    claims = size * (size - 1) if choices.correction != "none" else 1
    z = float(ndtri(1 - choices.alpha / claims) + ndtri(POWER))
    tied = float(fitted.within.ties.sum() / fitted.within.weight.sum())
    varies, expected = np.trace(covariance), np.trace(fitted.at.inverse[:size, :size])
    if varies <= FLAT * expected:
        return None
    variance = max(share * (1 - share) - tied / 4, 0.0) * float(varies / expected)
    return math.ceil(variance * (z / (share - 0.5)) ** 2)


def _agreement(judged: Comparisons, choices: HumanRequest) -> tuple[report.AgreementReport, ...]:
    """Whether judges order two outputs of an item alike; nothing where pairs are too many."""
    judged = judged.take((judged.segment.codes >= 0) & (judged.annotator.codes >= 0))
    system, who = judged.system.codes, judged.annotator.codes
    pairs = pairs_within(groups(judged.segment.codes, *np.sort(system, axis=1).T)[0])
    if pairs is None:
        return ()
    turned = np.where(system[:, 0] < system[:, 1], 1, -1)
    relation = (np.sign(judged.share - 0.5) * turned).astype(int) + 1
    same = who[pairs[:, 0]] == who[pairs[:, 1]]
    sorts = {"same": pairs[same], "distinct": pairs[~same]}
    made = choices.criteria[0], "relations", RELATIONS, relation
    return tuple(annotators.agreement(*made, who, sorts, choices))


def _warnings(
    own: report.PreferencesReport, pairs: Sequence[report.JudgedPair], choices: HumanRequest
) -> Iterator[WarningReport]:
    """Warnings about ties, what is not determined, units, fit, positions and what never varies."""
    if choices.ties == "davidson" and own.ties == "half" and own.tied:
        sentence = "How likely ties are is not determined; each counts as two half wins."
        yield WarningReport("ties", sentence)
    if own.undetermined:
        bounds = "they have bounds at most (undetermined=leave_out leaves them out)"
        yield WarningReport(
            "undetermined",
            f"The comparisons do not determine the strengths of "
            f"{examples(own.undetermined, NAMED)}, which won, or lost, all "
            "those with the others, or never met them; "
            f"{'they are left out' if choices.undetermined == 'leave_out' else bounds}.",
            own.undetermined,
        )
    if own.units < FEW:
        sentence = f"Errors from only {counted(own.units, own.unit)} are rough."
        yield WarningReport("few-units", sentence)
    for other in own.other_units:
        wide = other.design > DESIGN or own.unit == "judgement"
        if other.changed or (wide and other.unit != "judgement"):
            yield WarningReport(
                "other-units",
                f"With {other.unit}s drawn anew instead of {own.unit}s (unit={other.unit}) the "
                f"variances of differences are {other.design:.2g} times as large, and "
                f"{counted(other.changed, 'conclusion')} would be other. What is claimed holds for "
                f"further {own.unit}s.",
            )
    if own.without_maximum:
        yield WarningReport(
            "maximum",
            f"In {100 * own.without_maximum:.2g} % of the resamples strengths have no maximum; one "
            "step from the full fit takes its place.",
        )
    if own.fit and own.fit.p_value < SUSPECT:
        sentence = f"One order of strengths does not explain all pairs (p = {own.fit.p_value:.2g})."
        yield WarningReport("fit", sentence)
    if own.position and own.position.p_value < SUSPECT:
        more = "more" if own.position.effect > 0 else "less"
        yield WarningReport(
            "position",
            f"The system that stands first is preferred {more} often for that; show each pair both "
            "ways round, or at random.",
        )
    still = [(pair.a, pair.b) for pair in pairs if pair.difference is not None and pair.ci is None]
    if still:
        yield WarningReport(
            "constant",
            f"Nothing varies over the {own.unit}s of some pairs, such as where all are ties or "
            "there is one: their differences have no errors and no intervals.",
            pairs=tuple(still),
        )
