"""Comparisons of two systems as people read them: strengths, pairs, fit, and their pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from sigtest.people.report import HumanReport, JudgedPair, JudgedSystem, PreferencesReport
from sigtest.render import marks, model, records
from sigtest.render.drawing import PAGE, Colour, Drawing
from sigtest.render.words import MINUS, fixed, interval, percent, whole
from sigtest.report import Sources, counted

PLACES = 2  # of strengths and probabilities
SHARES: tuple[marks.Level, ...] = ((0.2, "three"), (0.3, "two"), (0.4, "one"))  # of the loser
WORDS = {"davidson": "ties as Davidson", "half": "ties as half wins"}
COLUMNS = ("system", "strength", "stderr", "strength_low", "strength_high", "probability",
           "probability_low", "probability_high", "won", "won_low", "won_high", "judgements",
           "items", "cluster", "rank_low", "rank_high")  # fmt: skip


def facts(own: PreferencesReport) -> tuple[str, ...]:
    """How strengths and their errors came about."""
    how = f"{whole(own.resamples)} resamples" if own.resamples else "sandwich"
    return (
        f"{whole(own.comparisons)} comparisons, {100 * own.tied:.1f} % ties",
        WORDS[own.ties],
        f"{how} over {counted(own.units, own.unit)}",
    )


def sheet(report: HumanReport) -> model.Sheet:
    """One record a system."""
    rows: list[list[object]] = []
    for system in report.systems:
        own = system.strength
        assert own is not None
        ends = [end if math.isfinite(end) else None for end in own.ci]
        rows.append([
            system.name, own.value, own.stderr, *ends, own.probability, *own.probability_ci,
            system.raw, *(system.ci or (None, None)), system.n_judgements, system.n_segments,
            system.cluster, *system.range,
        ])  # fmt: skip
    return model.Sheet(COLUMNS, rows)


def pairs_sheet(pairs: Sequence[JudgedPair], compared: bool) -> model.Sheet:
    """One record a pair; fields of comparisons only where there are any."""
    apart = () if compared else ("ties", "probability", "ci")
    names = tuple(name for name in records.fields_of(JudgedPair) if name not in apart)
    return records.sheet(names, pairs)


def columns(systems: Sequence[JudgedSystem]) -> list[model.Column]:
    """What a table of systems shows beside their ranks."""
    own = [system.strength for system in systems if system.strength is not None]
    return [
        model.numbers("strength", [one.value for one in own], PLACES, signed=True),
        model.intervals([one.ci for one in own], PLACES),
        model.numbers("preferred", [one.probability for one in own], PLACES),
        model.intervals([one.probability_ci for one in own], PLACES),
        model.numbers("won %", [system.raw for system in systems], 1),
        model.numbers("judgements", [system.n_judgements for system in systems], 0),
        model.numbers("items", [system.n_segments or None for system in systems], 0),
    ]


def pair_columns(pairs: Sequence[JudgedPair]) -> list[model.Column]:
    """What a table of pairs shows before p-values."""
    places = 0 if all(pair.u.is_integer() for pair in pairs) else 1
    return [
        model.numbers("a - b", [pair.difference for pair in pairs], PLACES, signed=True),
        model.intervals([pair.ci for pair in pairs], PLACES),
        model.numbers("preferred", [pair.probability for pair in pairs], PLACES),
        model.numbers("won", [pair.u for pair in pairs], places),
        model.numbers("ties", [pair.ties for pair in pairs], places),
        model.numbers("lost", [pair.n_a - pair.u for pair in pairs], places),
    ]


def notes(report: HumanReport) -> list[model.Block]:
    """What columns are, and what rank ranges promise."""
    own = report.preferences
    assert own is not None
    told = (
        "Strengths are log odds of winning, with mean 0; preferred: probability of being preferred "
        "to a system of mean strength, ties counting half; won: of comparisons without a tie."
    )
    if own.rank_confidence is not None:
        level = percent(own.rank_confidence)
        told += f" Rank ranges hold all true ranks together with {level} confidence."
    return [model.Paragraph(told)]


def trust(report: HumanReport) -> list[model.Section]:
    """Whether one order explains all pairs, what positions do, and what other units would say."""
    own = report.preferences
    blocks: list[model.Paragraph | model.ReportTable] = []
    if own is None:
        return []
    if own.position is not None:
        at = own.position
        blocks.append(model.Paragraph(
            f"The system that stands first is preferred in {100 * at.share:.1f} % of the "
            f"comparisons; standing first is worth {at.effect:+.2f} in log odds (standard error "
            f"{at.stderr:.2f}, p = {at.p_value:.2g})."
        ))  # fmt: skip
    if own.fit is not None:
        fit = own.fit
        blocks.append(model.Paragraph(
            f"Does one order of strengths explain all pairs? Chi-square {fit.chi_square:.1f} on "
            f"{fit.df} degrees of freedom, p = {fit.p_value:.2g}; comparisons vary "
            f"{fit.dispersion:.2f} times as much as independent ones."
        ))  # fmt: skip
        blocks.append(_worst(own))
    if own.other_units:
        blocks.append(_units(own))
    return [model.Section("How far strengths may be trusted", tuple(blocks))] if blocks else []


def _worst(own: PreferencesReport) -> model.ReportTable:
    assert own.fit is not None
    rows = own.fit.worst
    shown = (
        model.numbers("comparisons", [row.comparisons for row in rows], 0),
        model.numbers("observed", [row.observed for row in rows], PLACES),
        model.numbers("expected", [row.expected for row in rows], PLACES),
        model.numbers("z", [row.z for row in rows], 1, signed=True),
    )
    return model.ReportTable(
        name="fit",
        caption="Pairs that strengths explain worst: share that a won",
        names=tuple(model.names(side, [getattr(row, side) for row in rows]) for side in "ab"),
        groups=(model.Group("", shown),),
        things="pairs",
    )


def _units(own: PreferencesReport) -> model.ReportTable:
    rows = own.other_units
    shown = (
        model.numbers("units", [row.units for row in rows], 0),
        model.numbers("variance", [row.design for row in rows], PLACES),
        model.numbers("separated", [row.separated for row in rows], 0),
        model.numbers("other conclusions", [row.changed for row in rows], 0),
    )
    return model.ReportTable(
        name="units",
        caption=f"Other units than {own.unit}: variance beside it, and pairs",
        names=(model.words("unit", [row.unit for row in rows]),),
        groups=(model.Group("", shown),),
    )


def sentences(report: HumanReport, sources: Sources) -> Iterator[str]:
    """How strengths came about, for a paper."""
    own = report.preferences
    assert own is not None
    ties = (
        f"ties having a probability of their own{sources.cite('davidson-1970-extending')}"
        if own.ties == "davidson"
        else "ties counting as two half wins"
    )
    yield (
        "Strengths are maximum-likelihood estimates of the model of Bradley and Terry"
        f"{sources.cite('bradley-terry-1952-rank')}, {ties}."
    )
    how = (
        f"the bootstrap ({whole(own.resamples)} resamples, in each of which one step of Newton's "
        "method is taken from the estimate)"
        if own.resamples
        else f"the sandwich estimator{sources.cite('liang-zeger-1986-longitudinal')}"
    )
    yield (
        f"Standard errors come from {how} over {counted(own.units, own.unit)}, and intervals and "
        f"p-values from Student's t with {own.units - 1} degrees of freedom."
    )


def strengths_plot(report: HumanReport) -> str:
    """Strengths with their intervals, the strongest first; a rule parts clusters.

    Args:
        report: Of comparisons.
    """
    ordered = sorted(report.systems, key=lambda one: (one.cluster, sum(one.range), _place(one)))
    rows = []
    for i, system in enumerate(ordered):
        own = system.strength
        assert own is not None
        known = [end for end in own.ci if math.isfinite(end)]
        value = own.value if own.value is not None else sum(known)
        number = fixed(value, PLACES) if own.value is not None else ""
        rows.append(marks.ForestRow(
            (system.name,), value, f"{number} {interval(own.ci, PLACES)}".replace("-", MINUS),
            own.ci, own.value is not None, i > 0 and system.cluster > ordered[i - 1].cluster,
        ))  # fmt: skip
    drawing = Drawing(
        f"strengths, {percent(1 - report.alpha)} intervals",
        "; ".join(f"{row.names[0]} {row.number}" for row in rows) + ".",
        lines=("log odds of winning against a system of mean strength",),
    )
    marks.forest(drawing, marks.Forest(rows, line=0.0))
    return drawing.svg()


def _place(system: JudgedSystem) -> float:
    own = system.strength
    return -own.value if own is not None and own.value is not None else 0.0


def wins_plot(report: HumanReport) -> str:
    """How probably the row's system is preferred to the column's, and how often they met.

    Args:
        report: Of comparisons.
    """
    ordered = sorted(report.systems, key=lambda one: (one.cluster, sum(one.range), _place(one)))
    names = [system.name for system in ordered]
    expected: dict[tuple[str, str], tuple[Colour, str, str]] = {}
    met: dict[tuple[str, str], tuple[Colour, str, str]] = {}
    for pair in report.pairs:
        ties = pair.ties or 0.0
        won, lost = pair.u, pair.n_a - pair.u
        for a, b, p, wins, losses in (
            (pair.a, pair.b, pair.probability, won, lost),
            (pair.b, pair.a, None if pair.probability is None else 1 - pair.probability, lost, won),
        ):
            n = wins + losses + ties
            observed = f"{wins:g} won, {ties:g} tied, {losses:g} lost"
            if p is not None:
                hint = f"{a} preferred to {b}: {p:.3f}; {observed}"
                expected[a, b] = (marks.shade(1 - p, SHARES), hint, f"{p:.2f}".removeprefix("0"))
            if n:
                share = (losses + ties / 2) / n
                met[a, b] = marks.shade(share, SHARES), f"{a} and {b}: {observed}", f"{n:g}"
    drawing = Drawing(
        "how probably the row's system is preferred to the column's",
        f"From strongest to weakest: {', '.join(names)}.",
        lines=("ties count half; right: comparisons, shaded by the share that was won",),
        width=PAGE,
    )
    panels = [marks.Panel(expected, "expected"), marks.Panel(met, "observed")]
    marks.matrix(drawing, names, {"": panels}, least=7.0, most=24.0)
    drawing.legend([(colour, f"{1 - limit:.1f} and more") for limit, colour in SHARES])
    return drawing.svg()
