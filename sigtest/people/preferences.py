"""The report of comparisons of two systems: strengths, pairs, and how far these may be trusted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sigtest.arrays import Array, Counts, Flags
from sigtest.people import annotators, bradley_terry, report
from sigtest.people.bradley_terry import Strengths, Sums
from sigtest.people.decisions import decide, ranks, undecided
from sigtest.people.judgements import Comparisons, groups, pairs_within
from sigtest.people.statistics import Tails, logarithm
from sigtest.report import WarningReport, counted, listed
from sigtest.requests.people import HumanRequest, Quality
from sigtest.significance import CORRECTIONS
from sigtest.special import betainc, gammaincc, ndtri, stdtrit

if TYPE_CHECKING:
    from sigtest.people.question import HumanQuestion

PREFERENCE = "preference"  # the criterion of comparisons that name none
UNITS = ("judgement", "cluster", "item", "judge")  # the finest first
RELATIONS = 3  # before, tied, behind
FEW = 30  # units, below which errors are rough
WORST = 5  # pairs that fit worst
NAMED = 5  # systems in one sentence
DESIGN = 1.1  # how much larger variances make another unit worth a warning
POWER = 0.8  # with which a share of wins is to be shown
SUSPECT = 0.05  # p-value of positions and of fit, at which the report warns
OUTSIDE = 1e9  # stronger than any other, in the order
LEAST = 1e-300  # of a variance
FLAT = 1e-9  # share of the information that is rounding


def numbered(judged: Comparisons, unit: str) -> Counts | None:
    """(n,) number of the unit of each comparison, from 0; nothing where no unit is known.

    Comparisons that do not say of which item or judge they are, where others do, stand alone.
    """
    alone = np.arange(len(judged))
    if unit == "judgement":
        return alone
    column = {"item": judged.segment, "judge": judged.annotator, "cluster": judged.cluster}[unit]
    codes = np.where(column.codes < 0, len(column.names) + alone, column.codes)
    return _renumbered(codes) if column.known else None


def repeated(judged: Comparisons) -> list[str]:
    """Units that hold several comparisons, and of which there are several; and judgements."""
    sizes = {unit: numbered(judged, unit) for unit in UNITS}
    return [
        unit
        for unit, codes in sizes.items()
        if codes is not None and (unit == "judgement" or 0 < codes.max() < len(judged) - 1)
    ]


def _renumbered(codes: Counts) -> Counts:
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


@dataclass(frozen=True)
class Fitted:
    """Strengths of the systems that determine each other: the main part.

    Attributes:
        judged: All comparisons.
        units: (n,) number of the unit of each.
        main: (m,) systems of the main part.
        place: (S,) place of each system in it; -1 for the others.
        rows: Comparisons within it.
        at: The maximum.
        sums: Of these comparisons.
    """

    judged: Comparisons
    units: Counts
    main: Counts
    place: Counts
    rows: Counts
    at: Strengths
    sums: Sums

    @classmethod
    def of(cls, judged: Comparisons, choices: HumanRequest) -> Fitted:
        """The maximum for the largest part, ties being half wins where they have none."""
        units = numbered(judged, str(choices.unit))
        units = np.arange(len(judged)) if units is None else units
        main = bradley_terry.parts(sums_of(judged).won)[0]
        place = np.full(len(judged.names), -1)
        place[main] = np.arange(len(main))
        rows = np.flatnonzero((place[judged.system] >= 0).all(axis=1))
        first, second = place[judged.system[rows]].T
        sums = Sums(len(main), first, second, judged.share[rows], judged.weight[rows])
        won, ties = sums.won, float(sums.ties.sum())
        at = bradley_terry.fit(won, ties, choices.ties == "davidson")
        at = at or bradley_terry.fit(won, ties, davidson=False)
        assert at is not None  # with half wins one part has a maximum
        return cls(judged, units, main, place, rows, at, sums)

    def scatter(self, units: Counts) -> Array:
        """Of scores of units of all comparisons."""
        inner, shown = _renumbered(units[self.rows]), self.judged.shown[self.rows]
        return bradley_terry.scatter(self.at, self.sums, inner, shown) * _factor(inner)

    def sandwich(self, scatter: Array) -> Array:
        """(m, m) covariance of strengths."""
        whole: Array = self.at.inverse @ scatter[:-1, :-1] @ self.at.inverse
        return whole[:-1, :-1]

    def against(self, system: int) -> tuple[int, tuple[Array, Counts, Array]]:
        """Whether a system outside won (1) or lost (-1) its comparisons with the main part.

        And of each of these the opponent's strength, turned round if it lost; unit and weight.
        """
        mine = self.judged.system == system
        rows = np.flatnonzero(mine.any(axis=1) & (self.place[self.judged.system] >= 0).any(axis=1))
        opponents = self.judged.system[rows][~mine[rows]]
        won = 1 if (self.judged.share[rows] == mine[rows, 0]).all() else -1
        theta = won * self.at.theta[self.place[opponents]]
        return won, (theta, _renumbered(self.units[rows]), self.judged.weight[rows])

    @property
    def number(self) -> int:
        """How many units there are."""
        return int(self.units.max()) + 1

    def reach(self, alpha: float) -> float:
        """Half the length of intervals, in standard errors."""
        return float(stdtrit(max(self.number - 1, 1), 1 - alpha / 2))


def sums_of(judged: Comparisons) -> Sums:
    """All comparisons."""
    first, second = judged.system.T
    return Sums(len(judged.names), first, second, judged.share, judged.weight)


def _factor(units: Counts) -> float:
    """What the number of units adds to a variance."""
    number = int(units.max(initial=0)) + 1
    return number / max(number - 1, 1)


def _apart(covariance: Array) -> Array:
    """(m, m) variances of differences of strengths."""
    own = np.diag(covariance)
    variances: Array = own[:, None] + own[None, :] - 2 * covariance
    return variances


def _roots(variances: Array, expected: Array) -> Array:
    """Standard errors; infinite where nothing varies, such as over ties alone or one unit."""
    found: Array = np.sqrt(np.where(variances > FLAT * expected, variances, math.inf))
    return found


def _errors(at: Strengths, covariance: Array) -> Array:
    """(m, m) standard errors of differences of strengths."""
    return _roots(_apart(covariance), _apart(at.inverse[:-1, :-1]))


def wald(at: Strengths, covariance: Array, units: int) -> Array:
    """(m, m) p-values of the claims that the row's system is better than the column's.

    Student's t with as many degrees of freedom as there are units, less one.
    """
    df, t = max(units - 1, 1), at.distances / _errors(at, covariance)
    half = 0.5 * betainc(df / 2, 0.5, df / (df + t * t))
    return np.where(t > 0, half, 1 - half)


def preference_report(question: HumanQuestion, judged: Comparisons) -> report.HumanReport:
    """The report of comparisons."""
    choices = question.choices
    apart = bradley_terry.parts(sums_of(judged).won)
    apart = apart[len(apart[0]) > 1 :]
    outside = [judged.names[s] for part in apart for s in part]
    if choices.undetermined == "leave_out":
        stay = np.array([name not in outside for name in judged.names])
        judged = judged.take(np.all(stay[judged.system], axis=1))
    fitted = Fitted.of(judged, choices)
    at, inner = fitted.at, _renumbered(fitted.units[fitted.rows])
    scatter, drawn, without = fitted.scatter(fitted.units), 0, None
    covariance = fitted.sandwich(scatter)
    others = tuple(_other_units(fitted, covariance, choices))
    if choices.errors == "bootstrap" and len(fitted.main) > 1:
        drawn = choices.resamples
        covariance, without = bradley_terry.resample(at, fitted.sums, inner, drawn, choices.seed)
        covariance *= _factor(inner)
    pairs = _pairs(fitted, covariance, choices)
    familywise = CORRECTIONS[str(choices.correction)].familywise
    preferences = report.PreferencesReport(
        comparisons=len(judged),
        tied=float(sums_of(judged).ties.sum() / judged.weight.sum()),
        ties="davidson" if at.davidson else "half",
        nu=math.exp(at.log_nu) if at.davidson else None,
        unit=str(choices.unit),
        units=fitted.number,
        errors=str(choices.errors),
        resamples=drawn,
        without_maximum=without,
        rank_confidence=1 - choices.alpha if familywise else None,
        undetermined=tuple(outside),
        other_units=others,
        fit=_fit(fitted, scatter),
        position=_position(fitted, scatter),
        win_rate=choices.win_rate,
        needed=_needed(fitted, covariance, choices),
    )
    return report.HumanReport(
        **question.stated,
        tested="preferences",
        sources=tuple(source.report({}) for source in question.sources),
        annotators=_annotators(judged, named=choices.show_annotators),
        systems=_systems(fitted, covariance, pairs, choices.alpha),
        pairs=tuple(pairs),
        agreement=_agreement(judged, choices),
        gain=(),
        warnings=(
            *question.notes,
            *_warnings(preferences, choices),
            *_still(pairs, str(choices.unit)),
        ),
        preferences=preferences,
    )


def _pairs(fitted: Fitted, covariance: Array, choices: HumanRequest) -> list[report.JudgedPair]:
    """All pairs of systems, decided."""
    names, at, sums = fitted.judged.names, fitted.at, sums_of(fitted.judged)
    inner, ties, p = np.ix_(fitted.main, fitted.main), sums.tied, np.ones_like(sums.won)
    won, reach = sums.won - ties / 2, np.zeros_like(ties)
    p[inner] = wald(at, covariance, fitted.number)
    reach[inner] = fitted.reach(choices.alpha) * _errors(at, covariance)
    for s in np.flatnonzero(fitted.place < 0).tolist():
        way, against = fitted.against(s)
        for m, strength in zip(fitted.main, at.theta, strict=True):
            claim = (s, m) if way > 0 else (m, s)
            p[claim] = bradley_terry.all_won(at, way * strength, *against)
    rows = []
    for a, b in combinations(range(len(names)), 2):
        i, j = fitted.place[a], fitted.place[b]
        difference = probability = ends = None
        if i >= 0 and j >= 0:
            difference, half = float(at.theta[i] - at.theta[j]), float(reach[a, b])
            probability = at.preferred(difference)
            ends = (difference - half, difference + half) if math.isfinite(half) else None
        met, both = round(float(won[a, b] + won[b, a])), (float(p[a, b]), float(p[b, a]))
        tails = Tails(float(won[a, b]), *both, logarithm(min(both)))
        made = choices.criteria[0], str(choices.test), (met, met), difference, tails
        row = undecided((names[a], names[b]), *made)
        rows.append(replace(row, ties=float(ties[a, b]), probability=probability, ci=ends))
    return decide(rows, choices.alpha, str(choices.correction))


def _systems(
    fitted: Fitted, covariance: Array, pairs: Sequence[report.JudgedPair], alpha: float
) -> tuple[report.JudgedSystem, ...]:
    judged, sums = fitted.judged, sums_of(fitted.judged)
    won = sums.won - sums.tied / 2
    wins, decisive = won.sum(axis=1).tolist(), (won + won.T).sum(axis=1).tolist()
    strengths = [_strength(fitted, covariance, s, alpha) for s in range(sums.size)]
    reached = bradley_terry.reaching(sums.won).astype(np.int64)
    order = OUTSIDE * (reached.sum(axis=1) - reached.sum(axis=0))  # who beats whom comes first
    order += [own.value or 0.0 for own in strengths]
    stands = ranks(pairs, judged.names, order)
    systems = []
    for s in np.argsort(-order, kind="stable").tolist():
        rows = (judged.system == s).any(axis=1)
        systems.append(
            report.JudgedSystem(
                name=judged.names[s],
                n_judgements=len(np.unique(judged.row[rows])),
                n_segments=len({*judged.segment.codes[rows].tolist()} - {-1}),
                raw=100 * wins[s] / decisive[s] if decisive[s] else None,
                z=None,
                sd=None,
                ci=None,
                cluster=stands[s].cluster,
                range=(stands[s].lowest, stands[s].highest),
                criteria={},
                strength=strengths[s],
            )
        )
    return tuple(systems)


def _strength(
    fitted: Fitted, covariance: Array, system: int, alpha: float
) -> report.StrengthReport:
    """What the comparisons say of one system."""
    at, i = fitted.at, int(fitted.place[system])
    value = error = probability = None
    low, high = -math.inf, math.inf
    if i >= 0 and len(at.theta) > 1:
        value = float(at.theta[i])
        spread = float(_roots(covariance[i, i], at.inverse[i, i]))
        half, error = fitted.reach(alpha) * spread, spread if math.isfinite(spread) else None
        low, high, probability = value - half, value + half, at.preferred(value)
    elif len(at.theta) > 1:
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
    apart = ~np.eye(len(fitted.main), dtype=np.bool_)
    own = _errors(fitted.at, covariance)[apart]

    def claimed(covariance: Array, units: int) -> Flags:
        found = np.zeros_like(apart)
        p = wald(fitted.at, covariance, units)[apart]
        found[apart] = CORRECTIONS[str(choices.correction)].adjust(p) <= choices.alpha
        return found

    base = claimed(covariance, fitted.number)
    for unit in repeated(fitted.judged):
        units = numbered(fitted.judged, unit)
        if unit != choices.unit and units is not None and len(own) and np.isfinite(own).all():
            number, other = int(units.max()) + 1, fitted.sandwich(fitted.scatter(units))
            found = claimed(other, number)
            changed = (found != base) | (found != base).T
            design = float(np.median(_apart(other)[apart] / own**2))
            yield report.UnitReport(unit, number, int(found.sum()), int(changed.sum()) // 2, design)


def _fit(fitted: Fitted, scatter: Array) -> report.FitReport | None:
    """Whether one order explains all pairs: Pearson's chi-square over them."""
    at, won, size = fitted.at, fitted.sums.won, len(fitted.main)
    first, second = np.nonzero(np.triu(won + won.T, 1))
    df = len(first) - size + 1
    if df < 1:
        return None
    dispersion = float(np.trace(scatter[:size, :size] @ at.inverse[:size, :size])) / (size - 1)
    if dispersion <= FLAT:
        return None
    n = (won + won.T)[first, second]
    win, tie, loss = at.outcomes(at.distances[first, second])
    off = won[first, second] - n * (win + tie / 2)
    z = off / np.sqrt(np.maximum(n * (win + loss - (win - loss) ** 2) / 4 * dispersion, LEAST))
    square = float((z**2).sum())
    names = [fitted.judged.names[s] for s in fitted.main]
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
    at, sums, shown = fitted.at, fitted.sums, fitted.judged.shown[fitted.rows]
    win, _, inside, mixed = (part * shown for part in bradley_terry.residuals(at, sums))
    beside = bradley_terry.added(sums.first, inside, sums.size + 1)
    beside -= bradley_terry.added(sums.second, inside, sums.size + 1)
    beside[-1] = mixed.sum() * at.davidson
    information = float(inside.sum() - beside @ at.inverse @ beside)
    way = np.append(-at.inverse @ beside, 1.0)
    noise = way @ scatter @ way
    if information <= FLAT * inside.sum() or noise <= FLAT * information:
        return None  # unknown, or the same of the two always stands first, or nothing varies
    effect, error = float(win.sum()) / information, math.sqrt(noise) / information
    df, t = fitted.number - 1, effect / error
    return report.PositionReport(
        share=float((sums.share * sums.weight * shown).sum() / (sums.weight * shown).sum()),
        effect=effect,
        stderr=error,
        p_value=float(betainc(df / 2, 0.5, df / (df + t * t))) if df else 1.0,
    )


def _needed(fitted: Fitted, covariance: Array, choices: HumanRequest) -> int | None:
    """Comparisons of two systems that show a share of wins, from the normal distribution."""
    size, share = len(fitted.main), choices.win_rate
    if share is None or size < 2:
        return None
    claims = size * (size - 1) if choices.correction != "none" else 1
    z = float(ndtri(1 - choices.alpha / claims) + ndtri(POWER))
    tied = float(fitted.sums.ties.sum() / fitted.sums.weight.sum())
    dispersion = float(np.trace(covariance) / np.trace(fitted.at.inverse[:size, :size]))
    if dispersion <= FLAT:
        return None
    variance = max(share * (1 - share) - tied / 4, 0.0) * dispersion
    return math.ceil(variance * (z / (share - 0.5)) ** 2)


def _agreement(judged: Comparisons, choices: HumanRequest) -> tuple[report.AgreementReport, ...]:
    """Whether judges order two outputs of an item alike; nothing where pairs are too many."""
    judged = judged.take((judged.segment.codes >= 0) & (judged.annotator.codes >= 0))
    system, who = judged.system, judged.annotator.codes
    pairs = pairs_within(groups(judged.segment.codes, *np.sort(system, axis=1).T)[0])
    if pairs is None:
        return ()
    turned = np.where(system[:, 0] < system[:, 1], 1, -1)
    relation = (np.sign(judged.share - 0.5) * turned).astype(np.int64) + 1
    same = who[pairs.first] == who[pairs.second]
    sorts = {"same": pairs.take(same), "distinct": pairs.take(~same)}
    made = choices.criteria[0], "relations", RELATIONS, relation
    return tuple(annotators.agreement(*made, who, sorts, choices))


def _annotators(judged: Comparisons, *, named: bool) -> report.AnnotatorsReport | None:
    """Who judged how much; comparisons have no degraded copies."""
    column, rule, nothing = judged.annotator, Quality(), np.empty(0)
    if not column.known:
        return None
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.names)).tolist()
    each = tuple(
        annotators.tested(rule, n, None, nothing, nothing, name * named)
        for n, name in zip(counts, column.names, strict=True)
    )
    return annotators.summary(nothing, rule, each, filtered=False)


def _still(pairs: Sequence[report.JudgedPair], unit: str) -> Iterator[WarningReport]:
    """A warning of differences without errors."""
    still = [(pair.a, pair.b) for pair in pairs if pair.difference is not None and pair.ci is None]
    if still:
        yield WarningReport(
            "constant",
            f"Nothing varies over the {unit}s of some pairs, such as where all are ties or there "
            "is one: their differences have no errors and no intervals.",
            pairs=tuple(still),
        )


def _warnings(own: report.PreferencesReport, choices: HumanRequest) -> Iterator[WarningReport]:
    """Warnings about ties, what is not determined, units, fit and positions."""
    if choices.ties == "davidson" and own.ties == "half" and own.tied:
        sentence = "How likely ties are is not determined; each counts as two half wins."
        yield WarningReport("ties", sentence)
    if own.undetermined:
        names, rest = own.undetermined[:NAMED], len(own.undetermined) - NAMED
        told = listed([*names, *([f"{rest} more"] if rest > 0 else [])])
        bounds = "they have bounds at most (undetermined=leave_out leaves them out)"
        yield WarningReport(
            "undetermined",
            f"The comparisons do not determine the strengths of {told}, which won, or lost, all "
            "those with the others, or never met them; "
            f"{'they are left out' if choices.undetermined == 'leave_out' else bounds}.",
            tuple(own.undetermined),
        )
    if own.units < FEW:
        sentence = f"Errors from only {counted(own.units, own.unit)} are rough."
        yield WarningReport("few-units", sentence)
    for other in own.other_units:
        if other.unit == "judgement" and other.changed:
            yield WarningReport(
                "other-units",
                f"If all judgements were independent (unit=judgement), "
                f"{counted(other.changed, 'conclusion')} would be other; judgements of one "
                f"{own.unit} are not.",
            )
        elif other.changed or other.design > DESIGN or own.unit == "judgement":
            yield WarningReport(
                "other-units",
                f"With {other.unit}s drawn anew instead of {own.unit}s (unit={other.unit}) the "
                f"variances of differences are {other.design:.2g} times as large, and "
                f"{counted(other.changed, 'conclusion')} would be other. What is claimed holds for "
                f"further {own.unit}s, not for further {other.unit}s.",
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
