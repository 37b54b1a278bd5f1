"""A human evaluation as people read it, as records for a spreadsheet, and as a paper tells it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from sigtest.people.pictures import PICTURES
from sigtest.people.report import (
    AgreementReport,
    AnnotatorsReport,
    CriterionGain,
    CriterionReport,
    GainFigures,
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
    Range,
    ReportTable,
    Section,
    Sheet,
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
from sigtest.report.methods import Sources, listed
from sigtest.requests.people import COMBINED
from sigtest.significance import CORRECTIONS

FINE = 3  # decimals of standardised scores and of shares
COARSE = 10.0  # raw scores that reach it have one decimal, others two

TESTS = {
    "rank_sum": ("the rank-sum test", ("mann-whitney-1947-test",)),
    "signed_rank": ("the signed-rank test", ("wilcoxon-1945-individual",)),
    "approximate_randomization": ("approximate randomization", ("noreen-1989-computer",)),
    "sign": ("the sign test", ("dixon-mood-1946-sign",)),
}
QUALITY = {
    "paired_t": ("degraded copies score lower, paired t-test", "student-1908-probable"),
    "signed_rank": ("degraded copies score lower, signed-rank test", "wilcoxon-1945-individual"),
    "welch": ("repeats differ less than degraded copies, Welch's test",
              "welch-1947-generalization"),
    "mann_whitney": ("repeats differ less than degraded copies, rank-sum test",
                     "mann-whitney-1947-test"),
}  # fmt: skip

GainRow = tuple[str, str, CriterionGain, str, GainFigures]  # pair, criterion, gain, unit, figures


def present(report: HumanReport) -> Presented:
    """The report for any format."""
    sheets = {
        "pairs": partial(records.sheet, records.fields_of(JudgedPair), report.pairs),
        "systems": partial(_systems_sheet, report),
    }
    return Presented(partial(encode, report), partial(document, report), sheets)


def answer(report: HumanReport) -> tuple[str, ...]:
    """Whom people find best, and into how many clusters they put the systems."""
    ranges = {system.name: system.range for system in report.systems}
    clusters = len({system.cluster for system in report.systems})
    # what decides comes last: the criteria combined, where there are several
    pairs = [pair for pair in report.pairs if pair.criterion == report.pairs[-1].criterion]
    apart = sum(pair.conclusion != "tie" for pair in pairs)
    into = "one cluster: no pair is separated"
    if clusters > 1:
        into = f"{clusters} clusters"
    elif apart:
        are = "is" if apart == 1 else "are"
        into = f"one cluster, in which {whole(apart)} of {whole(len(pairs))} pairs {are} separated"
    return (
        leaders(ranges, "as people judge", "system"),
        f"{len(ranges)} systems fall into {into}.",
    )


def _systems_sheet(report: HumanReport) -> Sheet:
    """One record a system and criterion, and one of all criteria together where there are two."""
    names = tuple(name for name in records.fields_of(CriterionReport) if name != "box")
    rows = []
    for system in report.systems:
        scores: dict[str, JudgedSystem | CriterionReport] = {COMBINED: system, **system.criteria}
        if len(report.criteria) == 1:
            scores = {report.criteria[0]: system}
        rows += [[system.name, name, *records.record(row, names)] for name, row in scores.items()]
    return Sheet(("system", "criterion", *records.columns(names)), rows)


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
    marks: dict[Mark, str] = {}
    if report.gain or any(pair.conclusion != "tie" for pair in report.pairs):
        adjusted = report.correction != "none"
        p = f"p adjusted by {in_words(report.correction)}" if adjusted else "p"
        also = ", p of gains without" if report.gain and adjusted else ""
        marks = {"significant": f"{p}{also} is at most {report.alpha:g}"}
    return Document(
        title=f"Human evaluation of {len(report.systems)} systems",
        facts=_facts(report),
        answer=answer(report),
        blocks=tuple(blocks),
        marks=marks,
        warnings=report.warnings,
        signature=report.signature,
        methods=report.methods,
    )


def _facts(report: HumanReport) -> tuple[str, ...]:
    correction = "no correction" if report.correction == "none" else in_words(report.correction)
    in_files = report.standardise == "none" and report.tested == "z"
    return (
        f"{whole(judged(report))} judgements",
        ", ".join(map(partial(_directed, report), report.criteria)),
        *(["means over documents"] if report.aggregate == "document" else []),
        f"standardised: {'in the files' if in_files else report.standardise}",
        f"{in_words(report.test)}, one-sided both ways, {correction}",
        f"alpha {report.alpha:g}",
    )


def _directed(report: HumanReport, criterion: str) -> str:
    """A criterion, saying so where less is better."""
    if report.higher_is_better[criterion]:
        return criterion
    return f"{criterion} (lower is better{', z turned round' if report.tested == 'z' else ''})"


def _systems(report: HumanReport) -> ReportTable:
    """Best first; a rule where everyone above is better than everyone below."""

    def place(system: JudgedSystem) -> tuple[int, tuple[int, int], float]:
        mean = next((value for value in (system.z, system.raw) if value is not None), 0.0)
        return system.cluster, system.range, -report.sign(COMBINED) * mean

    ordered = sorted(report.systems, key=place)
    breaks = frozenset(
        i for i in range(1, len(ordered)) if ordered[i].cluster > ordered[i - 1].cluster
    )
    raw, standard = _raw_places(report), report.tested == "z"
    tested = intervals((system.ci for system in ordered), FINE if standard else raw)
    columns = [
        Column("rank", tuple(Range(*system.range) for system in ordered)),
        numbers("z", [system.z for system in ordered], FINE),
        *([tested] if standard else []),
        numbers("raw", [system.raw for system in ordered], raw),
        *([] if standard else [tested]),
        numbers("judgements", [system.n_judgements for system in ordered], 0),
        numbers("segments", [system.n_segments for system in ordered], 0),
    ]
    return ReportTable(
        name="systems",
        caption="Systems by rank",
        names=(names("system", [system.name for system in ordered]),),
        groups=(Group("", tuple(c for c in columns if any(c.cells))),),
        breaks=breaks,
        clusters="cluster",
        facts="; ".join(_facts(report)),
        things="systems",
    )


def _raw_places(report: HumanReport) -> int:
    """Decimals that tell raw scores apart: of 0 to 100 fewer than of MQM's penalties."""
    known = [abs(system.raw) for system in report.systems if system.raw is not None]
    return 1 if max(known, default=COARSE) >= COARSE else 2


def _left_out(report: HumanReport) -> list[Block]:
    """Which rows do not count, and why."""
    reasons = sum((Counter(source.dropped) for source in report.sources), Counter[str]())
    if not reasons:
        return []
    rows = sum(source.rows for source in report.sources)
    used = sum(source.used for source in report.sources)
    why = ", ".join(f"{reason} {whole(n)}" for reason, n in reasons.items())
    return [Paragraph(f"Of {whole(rows)} rows, {whole(used)} count; left out: {why}.")]


def _pairs(report: HumanReport, pairs: Sequence[JudgedPair], criterion: str) -> ReportTable:
    places = _raw_places(report) if report.tested == "raw" else FINE
    combined = any(pair.decided_by for pair in pairs)
    better = {"a": "{0.a} is better", "b": "{0.b} is better", "tie": "not separated"}
    sides = names("a", [pair.a for pair in pairs]), names("b", [pair.b for pair in pairs])
    columns = [
        numbers("a - b", [pair.difference for pair in pairs], places, signed=True),
        *claims(
            [((p.p_greater, p.p_less, p.p_adjusted), p.conclusion, False) for p in pairs],
            report.alpha,
            report.correction,
        ),
        words("conclusion", [better[pair.conclusion].format(pair) for pair in pairs]),
    ]
    if combined:
        columns.append(words("decided by", [pair.decided_by or "" for pair in pairs]))
    return ReportTable(
        name="pairs",
        caption="Pairs by all criteria, combined" if combined else f"Pairs by {criterion}",
        names=sides,
        groups=(Group("", tuple(columns)),),
        things="pairs",
        folded_over=MANY,
        facts="; ".join(_facts(report)),
    )


def _annotators(report: HumanReport) -> list[Block]:
    """How many count, and why the others do not."""
    group = report.annotators
    if group is None:
        return []
    passing = group.n - group.careless - group.untestable
    sentence = f"Annotators: {group.n}; too few bad references to test any; counted: all."
    if group.untestable < group.n or group.kept < group.n:
        sentence = (
            f"Annotators: {group.n}; passing quality control: {passing}, with "
            f"{whole(group.judgements_kept)} of {whole(group.judgements)} judgements; careless: "
            f"{group.careless}; with too few bad references to tell: {group.untestable}; counted: "
            f"{'all' if group.kept == group.n else group.kept}."
        )
    blocks: list[Paragraph | Figure | ReportTable] = [Paragraph(sentence)]
    if PICTURES["annotators"].fits(report):
        blocks.append(PICTURES["annotators"].figure(report))
    return [Section("Annotators", tuple(blocks))]


def _agreement(rows: Sequence[AgreementReport]) -> ReportTable:
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
    return ReportTable(
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
        (gain.name, criterion, gained, unit, figures)
        for gain in report.gain
        for criterion, gained in gain.criteria.items()
        for unit in ("z", "raw")
        if (figures := getattr(gained, unit)) is not None
    ]
    if not rows:
        return []
    sides = [
        words("criterion", [row[1] for row in rows]),
        words("scores", [row[3] for row in rows]),
    ]
    if any(name for name, *_ in rows):
        sides.insert(0, names("pair", [name for name, *_ in rows]))
    table = ReportTable(
        name="gain",
        caption="Gain",
        names=tuple(sides),
        groups=(Group("", tuple(c for c in _gain_columns(report, rows) if any(c.cells))),),
    )
    blocks: list[Block] = [table]
    for gain in report.gain:
        known = [
            f"{value:.{decimals}f} ({unit})"
            for unit, value, decimals in (("z", gain.f1_z, FINE), ("raw", gain.f1_raw, 1))
            if value is not None
        ]
        if known:
            of = f" of {gain.name}" if gain.name else ""
            f1 = f"F1 of the gains of adequacy and fluency{of}: {', '.join(known)}."
            blocks.append(Paragraph(f1))
    return blocks


def _gain_columns(report: HumanReport, rows: Sequence[GainRow]) -> list[Column]:
    """Both systems on both test sets, as the published tables have them, and the gain."""
    raw = _raw_places(report)
    places = [FINE if unit == "z" else raw for _, _, _, unit, _ in rows]

    def column(heading: str, what: str, signed: bool = False) -> Column:
        cells = zip((getattr(row[-1], what) for row in rows), places, strict=True)
        return Column(heading, tuple(Number(value, decimals, signed) for value, decimals in cells))

    def p(which: str) -> Column:
        values = [getattr(gained, which) for _, _, gained, _, _ in rows]
        return Column("p", tuple(
            p_value(value, report.alpha, value is not None and value <= report.alpha)
            for value in values
        ))  # fmt: skip

    return [
        column("current, old", "current_old"),
        column("current, new", "current_new"),
        p("p_current"),
        column("delta", "delta", signed=True),
        column("best, old", "best_old"),
        column("best, new", "best_new"),
        p("p_best"),
        column("gain", "gain", signed=True),
        Column("interval", tuple(
            None if (ci := row[-1].ci) is None else Interval(ci[0], ci[1], decimals)
            for row, decimals in zip(rows, places, strict=True)
        )),
    ]  # fmt: skip


def sentences(report: HumanReport, sources: Sources) -> Iterator[str]:
    """What was judged, who counts, how scores came about, and what was tested."""
    used = judged(report)
    criteria = [criterion for criterion in report.criteria if criterion]
    by = f" by {listed(criteria)}" if criteria else ""
    yield f"People judged {len(report.systems)} systems{by} in {used:,} judgements."
    if report.annotators and report.annotators.filtered:
        yield _filtered(report.annotators, sources)
    if report.tested == "z" and report.standardise != "none":
        without = " over systems' outputs" if report.standardise == "annotator_no_refs" else ""
        yield (
            "Scores are standardised by each annotator's mean and standard deviation"
            f"{without}{sources.cite('graham-etal-2013-continuous')}."
        )
    elif report.tested == "z":
        yield "Scores were already standardised in the files of judgements."
    yield _tests(report, sources)
    if len(report.criteria) > 1:
        yield (
            f"Of {listed(report.criteria)} the first that separates two systems decides"
            f"{sources.cite('graham-etal-2014-randomized')}."
        )
    if report.agreement:
        yield (
            "Agreement is kappa, with chance from annotators' own use of the categories"
            f"{sources.cite('cohen-1960-coefficient')} and with uniform chance."
        )
    if report.gain:
        yield (
            "Gain is that of the best systems, corrected for the difficulty of the test sets"
            f"{sources.cite('graham-etal-2014-better')}."
        )


def _filtered(annotators: AnnotatorsReport, sources: Sources) -> str:
    words, paper = QUALITY[annotators.test]
    return (
        f"Judgements count of the {annotators.kept} of {annotators.n} annotators who pass quality "
        f"control ({words}, p below {annotators.threshold:g})"
        f"{sources.cite('graham-etal-2013-continuous', paper)}."
    )


def _tests(report: HumanReport, sources: Sources) -> str:
    words, cited = TESTS[report.test]
    over = "comparisons" if report.tested == "rankings" else f"scores of {report.aggregate}s"
    corrected = correcting(report.correction, sources)
    return (
        f"All pairs of systems were tested by {words}{sources.cite(*cited)} on {over}, one-sided "
        f"in both directions, at level {report.alpha:g}; {corrected}. Clusters part systems where "
        "each above is significantly better than each below."
    )


def correcting(name: str, sources: Sources, over: str = "") -> str:
    """How p-values are corrected, as a clause; `over` says for what where that is not plain."""
    if name == "none":
        return "p-values are not corrected for multiple comparisons"
    correction = CORRECTIONS[name]
    cited = sources.cite(*correction.papers)
    return f"p-values are corrected{over} by the method of {correction.title}{cited}"
