"""A human evaluation as people read it, and as records for a spreadsheet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from sigtest.people.pictures import PICTURES
from sigtest.people.report import (
    AgreementReport,
    CriterionGain,
    CriterionReport,
    GainFigures,
    GainReport,
    HumanReport,
    JudgedPair,
    JudgedSystem,
    KappaReport,
    judged,
)
from sigtest.render import records
from sigtest.render.digits import whole
from sigtest.render.formats import Presented
from sigtest.render.model import (
    Block,
    Column,
    Document,
    Figure,
    Group,
    Interval,
    Mark,
    Number,
    Paragraph,
    PValue,
    Range,
    Section,
    Sheet,
    Table,
    claims,
    intervals,
    names,
    numbers,
    p_value,
    words,
)
from sigtest.render.names import in_words
from sigtest.render.standings import leaders
from sigtest.render.tables import MANY
from sigtest.report import encode

FINE = 3  # decimals of standardised scores and of shares
COARSE = 10.0  # raw scores that reach it have one decimal, others two

GainRow = tuple[str, str, CriterionGain, str, GainFigures]  # pair, criterion, gain, unit, figures


def present(report: HumanReport) -> Presented:
    """The report for any format."""
    sheets = {"pairs": partial(pairs_sheet, report), "systems": partial(systems_sheet, report)}
    return Presented(partial(encode, report), partial(document, report), sheets)


def answer(report: HumanReport) -> tuple[str, ...]:
    """Whom people find best, and into how many clusters they put the systems."""
    ranges = {system.name: system.range for system in report.systems}
    clusters = len({system.cluster for system in report.systems})
    into = f"{clusters} clusters" if clusters > 1 else f"one cluster{_inside(report)}"
    return (
        leaders(ranges, "as people judge", "system"),
        f"{len(ranges)} systems fall into {into}.",
    )


def _inside(report: HumanReport) -> str:
    """How many pairs of a single cluster are separated all the same."""
    # what decides comes last: the criteria combined, where there are several
    pairs = [pair for pair in report.pairs if pair.criterion == report.pairs[-1].criterion]
    apart = sum(pair.conclusion != "tie" for pair in pairs)
    if not apart:
        return ": no pair is separated"
    are = "is" if apart == 1 else "are"
    return f", in which {whole(apart)} of {whole(len(pairs))} pairs {are} separated"


def pairs_sheet(report: HumanReport) -> Sheet:
    """One record a pair and criterion."""
    return records.sheet(records.fields_of(JudgedPair), report.pairs)


def systems_sheet(report: HumanReport) -> Sheet:
    """One record a system and criterion, and one of all criteria together where there are two."""
    names = tuple(name for name in records.fields_of(CriterionReport) if name != "box")
    rows = (
        [system.name, criterion, *records.record(own, names)]
        for system in report.systems
        for criterion, own in _by_criterion(system, report.criteria)
    )
    return Sheet(("system", "criterion", *records.columns(names)), rows)


def _by_criterion(
    system: JudgedSystem, criteria: Sequence[str]
) -> Iterator[tuple[str, JudgedSystem | CriterionReport]]:
    if len(criteria) == 1:
        yield criteria[0], system
    else:
        yield "combined", system
        yield from system.criteria.items()


def document(report: HumanReport) -> Document:
    """Systems by rank, who is better than whom, annotators, agreement, gain."""
    blocks: list[Block] = [_systems(report), *_left_out(report)]
    for criterion in dict.fromkeys(pair.criterion for pair in report.pairs):
        pairs = [pair for pair in report.pairs if pair.criterion == criterion]
        drawn = [
            picture.figure(report, criterion=criterion)
            for picture in (PICTURES["heatmap"], PICTURES["boxes"])
            if picture.fits(report) and (picture.name == "heatmap" or criterion in report.criteria)
        ]
        blocks.append(Section(criterion, (*drawn, _pairs(report, pairs, criterion))))
    blocks += _annotators(report)
    if report.agreement:
        blocks.append(_agreement(report.agreement))
    blocks += _gain(report)
    return Document(
        title=f"Human evaluation of {len(report.systems)} systems",
        facts=_facts(report),
        answer=answer(report),
        blocks=tuple(blocks),
        marks=_marks(report),
        warnings=report.warnings,
        signature=report.signature,
        methods=report.methods,
    )


def _facts(report: HumanReport) -> tuple[str, ...]:
    correction = "no correction" if report.correction == "none" else in_words(report.correction)
    brought = report.standardise == "none" and report.tested == "z"
    return (
        f"{whole(judged(report))} judgements",
        ", ".join(map(partial(_directed, report), report.criteria)),
        *(["means over documents"] if report.aggregate == "document" else []),
        f"standardised: {'in the files' if brought else report.standardise}",
        f"{in_words(report.test)}, one-sided both ways, {correction}",
        f"alpha {report.alpha:g}",
    )


def _directed(report: HumanReport, criterion: str) -> str:
    """A criterion, saying so where less is better."""
    if report.higher_is_better[criterion]:
        return criterion
    return f"{criterion} (lower is better{', z turned round' if report.tested == 'z' else ''})"


def _marks(report: HumanReport) -> dict[Mark, str]:
    p = "p" if report.correction == "none" else f"p adjusted by {in_words(report.correction)}"
    if report.gain or any(pair.conclusion != "tie" for pair in report.pairs):
        also = ", p of gains without" if report.gain and p != "p" else ""
        return {"significant": f"{p}{also} is at most {report.alpha:g}"}
    return {}


def _systems(report: HumanReport) -> Table:
    """Best first; a rule where everyone above is better than everyone below."""
    ordered = sorted(report.systems, key=partial(_place, report))
    breaks = frozenset(
        i for i in range(1, len(ordered)) if ordered[i].cluster > ordered[i - 1].cluster
    )
    raw, standard = _raw_places(report), report.tested == "z"
    tested = intervals((own.ci for own in ordered), FINE if standard else raw)
    columns = [
        Column("rank", tuple(Range(*own.range) for own in ordered)),
        numbers("z", [own.z for own in ordered], FINE),
        *([tested] if standard else []),
        numbers("raw", [own.raw for own in ordered], raw),
        *([] if standard else [tested]),
        numbers("judgements", [own.n_judgements for own in ordered], 0),
        numbers("segments", [own.n_segments for own in ordered], 0),
    ]
    return Table(
        name="systems",
        caption="Systems by rank",
        names=(names("system", [own.name for own in ordered]),),
        groups=(Group("", tuple(c for c in columns if any(c.cells))),),
        breaks=breaks,
        clusters="cluster",
        facts="; ".join(_facts(report)),
        things="systems",
    )


def _raw_places(report: HumanReport) -> int:
    """Decimals that tell raw scores apart: of 0 to 100 fewer than of MQM's penalties."""
    known = [abs(own.raw) for own in report.systems if own.raw is not None]
    return 1 if max(known, default=COARSE) >= COARSE else 2


def _left_out(report: HumanReport) -> list[Block]:
    """Which rows do not count, and why."""
    reasons = sum((Counter(source.dropped) for source in report.sources), Counter[str]())
    if not reasons:
        return []
    rows, used = (sum(getattr(own, what) for own in report.sources) for what in ("rows", "used"))
    why = ", ".join(f"{reason} {whole(n)}" for reason, n in reasons.items())
    return [Paragraph(f"Of {whole(rows)} rows, {whole(used)} count; left out: {why}.")]


def _place(report: HumanReport, own: JudgedSystem) -> tuple[int, tuple[int, int], float]:
    mean = next((value for value in (own.z, own.raw) if value is not None), 0.0)
    return own.cluster, own.range, -report.sign("combined") * mean


def _pairs(report: HumanReport, pairs: Sequence[JudgedPair], criterion: str) -> Table:
    places = _raw_places(report) if report.tested == "raw" else FINE
    combined = any(pair.decided_by for pair in pairs)
    sides = names("a", [pair.a for pair in pairs]), names("b", [pair.b for pair in pairs])
    columns = [
        numbers("a - b", [pair.difference for pair in pairs], places, signed=True),
        *claims(
            [((p.p_greater, p.p_less, p.p_adjusted), p.conclusion, False) for p in pairs],
            report.alpha,
            report.correction,
        ),
        words("conclusion", [_conclusion(pair) for pair in pairs]),
    ]
    if combined:
        columns.append(words("decided by", [pair.decided_by or "" for pair in pairs]))
    return Table(
        name="pairs",
        caption="Pairs by all criteria, combined" if combined else f"Pairs by {criterion}",
        names=sides,
        groups=(Group("", tuple(columns)),),
        things="pairs",
        folded_over=MANY,
        facts="; ".join(_facts(report)),
    )


def _conclusion(pair: JudgedPair) -> str:
    if pair.conclusion == "tie":
        return "not separated"
    return f"{pair.a if pair.conclusion == 'a' else pair.b} is better"


def _annotators(report: HumanReport) -> list[Block]:
    """How many are kept, and why the others are not."""
    found = report.annotators
    if found is None:
        return []
    passing = found.n - found.careless - found.untestable
    said = f"Annotators: {found.n}; too few bad references to test any; counted: all."
    if found.untestable < found.n or found.kept < found.n:
        said = (
            f"Annotators: {found.n}; passing quality control: {passing}, with "
            f"{whole(found.judgements_kept)} of {whole(found.judgements)} judgements; careless: "
            f"{found.careless}; with too few bad references to tell: {found.untestable}; counted: "
            f"{'all' if found.kept == found.n else found.kept}."
        )
    blocks: list[Paragraph | Figure | Table] = [Paragraph(said)]
    if PICTURES["annotators"].fits(report):
        blocks.append(PICTURES["annotators"].figure(report))
    return [Section("Annotators", tuple(blocks))]


def _agreement(rows: Sequence[AgreementReport]) -> Table:
    kappas: dict[str, list[KappaReport | None]] = {
        "uniform chance": [row.uniform_chance for row in rows],
        "Cohen": [row.cohen for row in rows],
    }
    groups = [
        Group("", (
            numbers("pairs", [row.pairs for row in rows], 0),
            numbers("share", [row.share for row in rows], 3),
        )),
        *(
            Group(f"kappa, {heading}", (
                numbers("kappa", [kappa.value if kappa else None for kappa in found], 3),
                intervals([kappa.ci if kappa else None for kappa in found], 3),
            ))
            for heading, found in kappas.items()
        ),
    ]  # fmt: skip
    return Table(
        name="agreement",
        caption="Agreement",
        names=(
            names("criterion", [row.criterion for row in rows]),
            words("judges", [row.judges for row in rows]),
        ),
        groups=tuple(groups),
    )


def _gain(report: HumanReport) -> list[Block]:
    """Means of the four systems, gains, and how they combine, in standardised and raw units."""
    rows: list[GainRow] = [
        (gain.name, criterion, own, unit, figures)
        for gain in report.gain
        for criterion, own in gain.criteria.items()
        for unit in ("z", "raw")
        if (figures := getattr(own, unit)) is not None
    ]
    if not rows:
        return []
    sides = [
        words("criterion", [row[1] for row in rows]),
        words("scores", [row[3] for row in rows]),
    ]
    if any(name for name, *_ in rows):
        sides.insert(0, names("pair", [name for name, *_ in rows]))
    table = Table(
        name="gain",
        caption="Gain",
        names=tuple(sides),
        groups=(Group("", tuple(c for c in _gain_columns(report, rows) if any(c.cells))),),
    )
    return [table, *_both_gains(report.gain)]


def _gain_columns(report: HumanReport, rows: Sequence[GainRow]) -> list[Column]:
    """Both systems on both test sets, as the published tables have them, and the gain."""
    raw = _raw_places(report)
    places = [FINE if unit == "z" else raw for _, _, _, unit, _ in rows]

    def column(heading: str, what: str, signed: bool = False) -> Column:
        found = zip(rows, places, strict=True)
        cells = (Number(getattr(row[-1], what), decimals, signed) for row, decimals in found)
        return Column(heading, tuple(cells))

    return [
        column("current, old", "current_old"),
        column("current, new", "current_new"),
        Column("p", tuple(_p(own.p_current, report) for _, _, own, _, _ in rows)),
        column("delta", "delta", signed=True),
        column("best, old", "best_old"),
        column("best, new", "best_new"),
        Column("p", tuple(_p(own.p_best, report) for _, _, own, _, _ in rows)),
        column("gain", "gain", signed=True),
        Column("interval", tuple(
            None if (ci := row[-1].ci) is None else Interval(ci[0], ci[1], decimals)
            for row, decimals in zip(rows, places, strict=True)
        )),
    ]  # fmt: skip


def _p(value: float | None, report: HumanReport) -> PValue | None:
    return p_value(value, report.alpha, value is not None and value <= report.alpha)


def _both_gains(gains: Sequence[GainReport]) -> list[Paragraph]:
    """F1 of the gains of adequacy and fluency."""
    said = []
    for gain in gains:
        known = [
            f"{value:.{decimals}f} ({unit})"
            for unit, value, decimals in (("z", gain.f1_z, FINE), ("raw", gain.f1_raw, 1))
            if value is not None
        ]
        if known:
            of = f" of {gain.name}" if gain.name else ""
            said.append(f"F1 of the gains of adequacy and fluency{of}: {', '.join(known)}.")
    return [Paragraph(sentence) for sentence in said]
