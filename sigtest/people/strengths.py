"""Comparisons of two systems as people read them: strengths, pairs, fit, and their pictures."""

import math
from collections.abc import Iterator, Sequence

from sigtest.people import report as reports
from sigtest.render import marks, model, records
from sigtest.render.drawing import PAGE, Colour, Drawing
from sigtest.render.words import MINUS, fixed, interval, percent, whole
from sigtest.report import Sources, counted

PLACES = 2  # of strengths and probabilities
SHARES: tuple[marks.Level, ...] = ((0.2, "three"), (0.3, "two"), (0.4, "one"))  # of the loser
PAIRED = ("ties", "probability", "ci")  # fields of pairs that comparisons alone have


def of(system: reports.JudgedSystem) -> reports.StrengthReport:
    """The strength of a system."""
    assert system.strength is not None
    return system.strength


def sheet(report: reports.HumanReport) -> model.Sheet:
    """One record a system: its strength, then what all systems have."""
    own = ("value", "stderr", "ci", "probability")
    also = ("raw", "n_judgements", "n_segments", "cluster", "range")
    names = ("system", "strength", *records.columns(own)[1:], *records.columns(also))
    rows = [
        [system.name, *records.record(of(system), own), *records.record(system, also)]
        for system in report.systems
    ]
    known = [[None if cell in (math.inf, -math.inf) else cell for cell in row] for row in rows]
    return model.Sheet(names, known)


def pairs_sheet(report: reports.HumanReport) -> model.Sheet:
    """One record a pair."""
    apart = () if report.preferences else PAIRED
    names = tuple(name for name in records.fields_of(reports.JudgedPair) if name not in apart)
    return records.sheet(names, report.pairs)


def columns(systems: Sequence[reports.JudgedSystem]) -> list[model.Column]:
    """What a table of systems shows beside their ranks."""
    own = [*map(of, systems)]
    return [
        model.column("strength", [one.value for one in own], PLACES, signed=True),
        model.column("interval", [one.ci for one in own], PLACES),
        model.column("preferred", [one.probability for one in own], PLACES),
        model.column("interval", [one.probability_ci for one in own], PLACES),
        model.column("won %", [system.raw for system in systems], 1),
        model.column("judgements", [system.n_judgements for system in systems]),
        model.column("items", [system.n_segments or None for system in systems]),
    ]


def pair_columns(pairs: Sequence[reports.JudgedPair]) -> list[model.Column]:
    """What a table of pairs shows before p-values."""
    places = 0 if all(pair.u.is_integer() for pair in pairs) else 1
    lost = [pair.n_a - pair.u for pair in pairs]
    return [
        model.column("a - b", [pair.difference for pair in pairs], PLACES, signed=True),
        model.column("interval", [pair.ci for pair in pairs], PLACES),
        model.column("preferred", [pair.probability for pair in pairs], PLACES),
        model.column("won", [pair.u for pair in pairs], places),
        model.column("ties", [pair.ties for pair in pairs], places),
        model.column("lost", lost, places),
    ]


def notes(own: reports.PreferencesReport) -> model.Paragraph:
    """What columns are, and what rank ranges promise."""
    ranks = "."
    if own.rank_confidence is not None:
        level = percent(own.rank_confidence)
        ranks = f". Rank ranges hold all true ranks together with {level} confidence."
    return model.Paragraph(
        "Strengths are log odds of winning, with mean 0; preferred: probability of being preferred "
        "to a system of mean strength, ties counting half; won: of comparisons without a tie"
        f"{ranks}"
    )


def trust(own: reports.PreferencesReport) -> Iterator[model.Paragraph | model.ReportTable]:
    """What positions do, whether one order explains all pairs, and what other units would say."""
    if own.position is not None:
        at = own.position
        among = " of systems whose strengths are determined" * bool(own.undetermined)
        yield model.Paragraph(
            f"The system that stands first is preferred in {100 * at.share:.1f} % of the "
            f"comparisons{among}; standing first is worth {at.effect:+.2f} in log odds "
            f"(standard error {at.stderr:.2f}, p = {at.p_value:.2g})."
        )
    if own.fit is not None:
        fit, rows = own.fit, own.fit.worst
        yield model.Paragraph(
            f"Does one order of strengths explain all pairs? Chi-square {fit.chi_square:.1f} on "
            f"{fit.df} degrees of freedom, p = {fit.p_value:.2g}; comparisons vary "
            f"{fit.dispersion:.2f} times as much as independent ones."
        )
        halves = int(not all(row.comparisons.is_integer() for row in rows))
        shown = (("comparisons", halves), ("observed", PLACES), ("expected", PLACES), ("z", 1))
        yield model.ReportTable(
            name="fit",
            caption="Pairs that strengths explain worst: share that a won",
            names=model.sides(rows),
            groups=(_group(rows, shown),),
        )
    if own.win_rate is not None and own.needed is not None:
        yield model.Paragraph(
            f"About {whole(own.needed)} comparisons of two systems show with 80 % power that one "
            f"is preferred in {100 * own.win_rate:g} % of them, at the level of the smallest p, if "
            f"ties and {own.unit}s are as here."
        )
    if own.other_units:
        shown = (("units", 0), ("design", PLACES), ("separated", 0), ("changed", 0))
        yield model.ReportTable(
            name="units",
            caption=f"With other units than {own.unit}: design is the variance beside it",
            names=(model.column("unit", [row.unit for row in own.other_units]),),
            groups=(_group(own.other_units, shown),),
        )


def _group(rows: Sequence[object], shown: Sequence[tuple[str, int]]) -> model.Group:
    """Columns of fields with so many decimals."""
    return model.Group("", tuple(
        model.column(name, [getattr(row, name) for row in rows], places) for name, places in shown
    ))  # fmt: skip


def sentences(
    report: reports.HumanReport, own: reports.PreferencesReport, sources: Sources
) -> Iterator[str]:
    """How strengths came about, for a paper."""
    ties = "ties counting as two half wins"
    if own.ties == "davidson":
        cited = sources.cite("davidson-1970-extending")
        ties = f"ties having a probability of their own{cited}"
    how = f"the sandwich estimator{sources.cite('liang-zeger-1986-longitudinal')}"
    if own.resamples:
        how = f"one step of Newton's method in each of {whole(own.resamples)} bootstrap resamples"
    yield (
        "Strengths are maximum-likelihood estimates of the model of Bradley and Terry"
        f"{sources.cite('bradley-terry-1952-rank')}, {ties}. Standard errors come from {how} over "
        f"{counted(own.units, own.unit)}, and intervals and p-values from Student's t with "
        f"{own.units - 1} degrees of freedom."
    )
    if any(of(system).value is None for system in report.systems):
        yield (
            "Of systems whose strengths are not determined, p-values and bounds follow from the "
            "probability of winning, or losing, all comparisons with the others, the likeliest of "
            f"each {own.unit} counting."
        )


def _ordered(report: reports.HumanReport) -> list[reports.JudgedSystem]:
    """Strongest first."""
    return sorted(report.systems, key=lambda one: (one.cluster, sum(one.range)))


def strengths_plot(report: reports.HumanReport) -> str:
    """Strengths with their intervals; a rule parts clusters."""
    rows: list[marks.ForestRow] = []
    cluster = 1
    for system in _ordered(report):
        own = of(system)
        value = own.value if own.value is not None else sum(filter(math.isfinite, own.ci))
        known = "" if own.value is None else f"{fixed(own.value, PLACES)} "
        number = f"{known}{interval(own.ci, PLACES)}".replace("-", MINUS)
        opens, cluster = system.cluster > cluster, system.cluster
        filled = own.value is not None
        rows.append(marks.ForestRow((system.name,), value, number, own.ci, filled, opens))
    return marks.forest_picture(
        f"strengths, {percent(1 - report.alpha)} intervals",
        rows,
        "log odds of winning against a system of mean strength",
    )


def wins_plot(report: reports.HumanReport) -> str:
    """How probably the row's system is preferred to the column's, and how often they met."""
    names = [system.name for system in _ordered(report)]
    panels: tuple[dict[tuple[str, str], tuple[Colour, str, str]], ...] = {}, {}
    for pair in report.pairs:
        p, ties, lost = pair.probability, pair.ties or 0.0, pair.n_a - pair.u
        met = pair.n_a + ties
        turned = None if p is None else 1 - p
        for a, b, wins, share in ((pair.a, pair.b, pair.u, p), (pair.b, pair.a, lost, turned)):
            hint = f"{a} and {b}: {wins:g} won, {ties:g} tied, {met - wins - ties:g} lost"
            if share is not None:
                word = f"{share:.2f}".removeprefix("0")
                panels[0][a, b] = marks.shade(1 - share, SHARES), hint, word
            if met:
                shade = marks.shade(1 - (wins + ties / 2) / met, SHARES)
                panels[1][a, b] = shade, hint, f"{met:g}"
    drawing = Drawing(
        "how probably the row's system is preferred to the column's",
        f"From strongest to weakest: {', '.join(names)}.",
        lines=("ties count half; right: comparisons, shaded by the share that was won",),
        width=PAGE,
    )
    titled = [marks.Panel(*own) for own in zip(panels, ("expected", "observed"), strict=True)]
    marks.matrix(drawing, names, {"": titled}, least=7.0, most=24.0)
    drawing.legend([(colour, f"{1 - limit:.1f} and more") for limit, colour in SHARES])
    return drawing.svg()
