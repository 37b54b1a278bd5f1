"""A human evaluation as people read it, and as records for a spreadsheet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from sigtest.human.pictures import PICTURES
from sigtest.human.report import AgreementReport, HumanReport, JudgedPair, JudgedSystem
from sigtest.render.columns import intervals, names, numbers, p_value, words
from sigtest.render.digits import whole
from sigtest.render.formats import Presented
from sigtest.render.model import (
    Block,
    Column,
    Document,
    Figure,
    Group,
    Mark,
    Paragraph,
    Range,
    Section,
    Sheet,
    Table,
)
from sigtest.report import encode

MANY = 30  # pairs, above which their table is folded
PLACES = {"raw": 1, "z": 3}
RECORD = ("a", "b", "criterion", "test", "n_a", "n_b", "difference", "u", "p_greater", "p_less",
          "log10_p", "p_adjusted", "conclusion")  # fmt: skip


def present(report: HumanReport) -> Presented:
    """The report for any format."""
    return Presented(partial(encode, report), partial(document, report), partial(sheet, report))


def sheet(report: HumanReport) -> Sheet:
    """One record a pair and criterion."""
    return Sheet(RECORD, ([getattr(pair, name) for name in RECORD] for pair in report.pairs))


def document(report: HumanReport) -> Document:
    """Systems by rank, who is better than whom, annotators, agreement, gain."""
    blocks: list[Block] = [_systems(report)]
    for criterion in dict.fromkeys(pair.criterion for pair in report.pairs):
        pairs = [pair for pair in report.pairs if pair.criterion == criterion]
        drawn = [
            Figure(picture.title, partial(picture.draw, report, criterion))
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
        blocks=tuple(blocks),
        marks=_marks(report),
        warnings=report.warnings,
        signature=report.signature,
        methods=report.methods,
    )


def _facts(report: HumanReport) -> tuple[str, ...]:
    used = sum(source.used for source in report.sources)
    correction = "no correction" if report.correction == "none" else report.correction
    return (
        f"{whole(used)} judgements",
        ", ".join(report.criteria),
        f"standardised: {report.standardise}",
        f"{report.test.replace('_', ' ')}, one-sided both ways, {correction}",
        f"alpha {report.alpha:g}",
    )


def _marks(report: HumanReport) -> dict[Mark, str]:
    if any(min(pair.p_greater, pair.p_less) <= report.alpha for pair in report.pairs):
        return {"significant": f"p is at most {report.alpha:g}"}
    return {}


def _systems(report: HumanReport) -> Table:
    """Best first; a rule where everyone above is better than everyone below."""
    ordered = sorted(report.systems, key=lambda own: (own.cluster, own.range, -_mean(own)))
    breaks = frozenset(
        i for i in range(1, len(ordered)) if ordered[i].cluster > ordered[i - 1].cluster
    )
    columns = [
        Column("rank", tuple(Range(*own.range) for own in ordered)),
        numbers("z", [own.z for own in ordered], PLACES["z"]),
        intervals("interval", (own.ci for own in ordered), PLACES["z"]),
        numbers("raw", [own.raw for own in ordered], PLACES["raw"]),
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


def _mean(own: JudgedSystem) -> float:
    return next((value for value in (own.z, own.raw) if value is not None), 0.0)


def _pairs(report: HumanReport, pairs: Sequence[JudgedPair], criterion: str) -> Table:
    places = PLACES.get(report.tested, 3)
    sides = names("a", [pair.a for pair in pairs]), names("b", [pair.b for pair in pairs])
    p_values: list[tuple[str, Callable[[JudgedPair], float]]] = [
        ("p, a is better", lambda pair: pair.p_greater),
        ("p, b is better", lambda pair: pair.p_less),
    ]
    columns = [
        numbers("a - b", [pair.difference for pair in pairs], places, signed=True),
        *(
            Column(
                heading,
                tuple(p_value(of(pair), report.alpha, of(pair) <= report.alpha) for pair in pairs),
            )
            for heading, of in p_values
        ),
        words("conclusion", [_conclusion(pair) for pair in pairs]),
    ]
    return Table(
        name="pairs",
        caption=f"Pairs by {criterion}",
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
    said = (
        f"{found.n} annotators: {found.kept} kept, {found.careless} careless, "
        f"{found.untestable} with too few bad references to tell; "
        f"{whole(found.judgements_kept)} of {whole(found.judgements)} judgements are theirs to keep"
        f" ({'others are left out' if found.filtered else 'none is left out'})."
    )
    blocks: list[Paragraph | Figure | Table] = [Paragraph(said)]
    if PICTURES["annotators"].fits(report):
        picture = PICTURES["annotators"]
        blocks.append(Figure(picture.title, partial(picture.draw, report, None)))
    return [Section("Annotators", tuple(blocks))]


def _agreement(rows: Sequence[AgreementReport]) -> Table:
    kappas = [("uniform chance", [row.uniform_chance for row in rows])]
    groups = [
        Group("", (
            numbers("pairs", [row.pairs for row in rows], 0),
            numbers("share", [row.share for row in rows], 3),
        )),
        *(
            Group(f"kappa, {heading}", (
                numbers("kappa", [kappa.value for kappa in found], 3),
                intervals("interval", [kappa.ci for kappa in found], 3),
            ))
            for heading, found in kappas
        ),
        Group("kappa, Cohen", (
            numbers("kappa", [row.cohen.value if row.cohen else None for row in rows], 3),
            intervals("interval", [row.cohen.ci if row.cohen else None for row in rows], 3),
        )),
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
    rows = [
        (gain.name, criterion, figures)
        for gain in report.gain
        for criterion, own in gain.criteria.items()
        if (figures := own.z or own.raw) is not None
    ]
    if not rows:
        return []
    table = Table(
        name="gain",
        caption="Gain",
        names=(
            names("pair", [name for name, _, _ in rows]),
            words("criterion", [criterion for _, criterion, _ in rows]),
        ),
        groups=(
            Group("", (
                numbers("delta", [figures.delta for _, _, figures in rows], 3),
                numbers("gain", [figures.gain for _, _, figures in rows], 3),
                intervals("interval", [f.ci for _, _, f in rows], 3),
            )),
        ),
    )  # fmt: skip
    return [table]
