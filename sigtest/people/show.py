"""A human evaluation as people read it, as records, as pictures, and as a paper tells it."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from sigtest.data.names import choose
from sigtest.people import report as reports
from sigtest.people import strengths
from sigtest.render import marks, model, records, words
from sigtest.render.comparison import MANY
from sigtest.render.drawing import COLUMN, PAGE, Drawing
from sigtest.render.pictures import Picture, where
from sigtest.render.standings import leaders
from sigtest.report import Sources, counted, listed
from sigtest.requests.people import COMBINED
from sigtest.significance import CORRECTIONS

FINE = 3  # decimals of standardised scores and of shares
COARSE = 10.0  # raw scores that reach it have one decimal, others two

TESTS = {
    "rank_sum": ("the rank-sum test", ("mann-whitney-1947-test",)),
    "signed_rank": ("the signed-rank test", ("wilcoxon-1945-individual",)),
    "approximate_randomization": ("approximate randomization", ("noreen-1989-computer",)),
    "bradley_terry": ("Wald's test of their difference", ()),
}
QUALITY = {
    "paired_t": ("degraded copies score lower, paired t-test", "student-1908-probable"),
    "signed_rank": ("degraded copies score lower, signed-rank test", "wilcoxon-1945-individual"),
    "welch": ("repeats differ less than degraded copies, Welch's test",
              "welch-1947-generalization"),
    "mann_whitney": ("repeats differ less than degraded copies, rank-sum test",
                     "mann-whitney-1947-test"),
}  # fmt: skip

GainRow = tuple[
    str, str, reports.CriterionGain, str, reports.GainFigures
]  # pair, criterion, gain, unit, figures


def answer(report: reports.HumanReport) -> tuple[str, ...]:
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
        among = f"{words.whole(apart)} of {words.whole(len(pairs))} pairs"
        into = f"one cluster, in which {among} {are} separated"
    return (
        leaders(ranges, "by preference" if report.preferences else "as people judge", "system"),
        f"{len(ranges)} systems fall into {into}.",
    )


def systems_sheet(report: reports.HumanReport) -> model.Sheet:
    """One record a system and criterion, and one of all criteria together where there are two."""
    if report.preferences:
        return strengths.sheet(report)
    names = tuple(name for name in records.fields_of(reports.CriterionReport) if name != "box")
    rows = []
    for system in report.systems:
        scores: dict[str, reports.JudgedSystem | reports.CriterionReport] = {
            COMBINED: system,
            **system.criteria,
        }
        if len(report.criteria) == 1:
            scores = {report.criteria[0]: system}
        rows += [[system.name, name, *records.record(row, names)] for name, row in scores.items()]
    return model.Sheet(("system", "criterion", *records.columns(names)), rows)


SHEETS = {"pairs": strengths.pairs_sheet, "systems": systems_sheet}


def document(report: reports.HumanReport) -> model.Document:
    """Systems by rank, who is better than whom, annotators, agreement, gain."""
    blocks: list[model.Block] = [_systems(report), *_left_out(report)]
    if report.preferences is not None:
        blocks.append(strengths.notes(report.preferences))
        blocks += [PICTURES[name].figure(report) for name in ("strengths", "wins")]
    for criterion in dict.fromkeys(pair.criterion for pair in report.pairs):
        pairs = [pair for pair in report.pairs if pair.criterion == criterion]
        drawn = [
            picture.figure(report, criterion=criterion)
            for picture in (PICTURES["heatmap"], PICTURES["boxes"])
            if picture.fits(report) and (picture.name == "heatmap" or criterion in report.criteria)
        ]
        blocks.append(model.Section(criterion, (*drawn, _pairs(report, pairs, criterion))))
    if report.preferences is not None:
        trust = tuple(strengths.trust(report.preferences))
        blocks.append(model.Section("How far strengths may be trusted", trust))
    blocks += _annotators(report)
    if report.agreement:
        blocks.append(_agreement(report.agreement))
    blocks += _gain(report)
    legend: dict[model.Mark, str] = {}
    if report.gain or any(pair.conclusion != "tie" for pair in report.pairs):
        also = ", p of gains without" if report.gain and report.correction != "none" else ""
        legend = {"significant": words.limit_in_words(report.correction, report.alpha, also)}
    return model.Document(
        title=f"Human evaluation of {len(report.systems)} systems",
        facts=_facts(report),
        answer=answer(report),
        blocks=tuple(blocks),
        marks=legend,
    )


def _facts(report: reports.HumanReport) -> tuple[str, ...]:
    correction = words.correction_in_words(report.correction)
    in_files = report.standardise == "none" and report.tested == "z"
    test = f"{words.in_words(report.test)}, one-sided both ways, {correction}"
    if own := report.preferences:
        how = f"{words.whole(own.resamples)} resamples" if own.resamples else "sandwich"
        return (
            f"{counted(own.comparisons, 'comparison')}, {100 * own.tied:.1f} % ties",
            "ties as Davidson" if own.nu else "ties as half wins",
            f"{how} over {counted(own.units, own.unit)}",
            test,
            f"alpha {report.alpha:g}",
        )
    lower = f" (lower is better{', z turned round' if report.tested == 'z' else ''})"
    directed = [name + lower * (not report.higher_is_better[name]) for name in report.criteria]
    return (
        f"{words.whole(reports.judged(report))} judgements",
        ", ".join(directed),
        *(["means over documents"] if report.aggregate == "document" else []),
        f"standardised: {'in the files' if in_files else report.standardise}",
        test,
        f"alpha {report.alpha:g}",
    )


def _systems(report: reports.HumanReport) -> model.ReportTable:
    """Best first; a rule where everyone above is better than everyone below."""

    def place(system: reports.JudgedSystem) -> tuple[int, tuple[int, int], float]:
        return system.cluster, system.range, -report.sign(COMBINED) * _mean(system)

    ordered = sorted(report.systems, key=place)
    breaks = frozenset(
        i for i in range(1, len(ordered)) if ordered[i].cluster > ordered[i - 1].cluster
    )
    raw, standard = _raw_places(report), report.tested == "z"
    tested = model.column("interval", (system.ci for system in ordered), FINE if standard else raw)
    columns = [
        model.column("rank", (model.Range(*system.range) for system in ordered)),
        model.column("z", [system.z for system in ordered], FINE),
        *([tested] if standard else []),
        model.column("raw", [system.raw for system in ordered], raw),
        *([] if standard else [tested]),
        model.column("judgements", [system.n_judgements for system in ordered]),
        model.column("segments", [system.n_segments for system in ordered]),
    ]
    if report.preferences is not None:
        columns[1:] = strengths.columns(ordered)
    return model.ReportTable(
        name="systems",
        caption="Systems by rank",
        names=(model.names("system", [system.name for system in ordered]),),
        groups=(model.Group("", tuple(c for c in columns if any(c.cells))),),
        breaks=breaks,
        clusters="cluster",
        facts="; ".join(_facts(report)),
        things="systems",
    )


def _raw_places(report: reports.HumanReport) -> int:
    """Decimals that tell raw scores apart: of 0 to 100 fewer than of MQM's penalties."""
    known = [abs(system.raw) for system in report.systems if system.raw is not None]
    return 1 if max(known, default=COARSE) >= COARSE else 2


def _left_out(report: reports.HumanReport) -> list[model.Block]:
    """Which rows do not count, and why."""
    reasons = sum((Counter(source.dropped) for source in report.sources), Counter[str]())
    if not reasons:
        return []
    rows = sum(source.rows for source in report.sources)
    used = sum(source.used for source in report.sources)
    why = ", ".join(f"{reason} {words.whole(n)}" for reason, n in reasons.items())
    return [
        model.Paragraph(f"Of {words.whole(rows)} rows, {words.whole(used)} count; left out: {why}.")
    ]


def _pairs(
    report: reports.HumanReport, pairs: Sequence[reports.JudgedPair], criterion: str
) -> model.ReportTable:
    places = _raw_places(report) if report.tested == "raw" else FINE
    combined = any(pair.decided_by for pair in pairs)
    differences = [model.column("a - b", [pair.difference for pair in pairs], places, signed=True)]
    columns = [
        *(strengths.pair_columns(pairs) if report.preferences else differences),
        *model.claims(
            [((p.p_greater, p.p_less, p.p_adjusted), p.conclusion, False) for p in pairs],
            report.alpha,
            report.correction,
        ),
        model.column(
            "conclusion", [model.verdict(p, p.conclusion, "not separated") for p in pairs]
        ),
    ]
    if combined:
        columns.append(model.column("decided by", [pair.decided_by or "" for pair in pairs]))
    return model.ReportTable(
        name="pairs",
        caption="Pairs by all criteria, combined" if combined else f"Pairs by {criterion}",
        names=model.sides(pairs),
        groups=(model.Group("", tuple(columns)),),
        things="pairs",
        folded_over=MANY,
        facts="; ".join(_facts(report)),
    )


def _annotators(report: reports.HumanReport) -> list[model.Block]:
    """How many count, and why the others do not."""
    group = report.annotators
    if group is None:
        return []
    passing = group.n - group.careless - group.untestable
    sentence = f"Annotators: {group.n}, none of them tested; counted: all."
    if group.untestable < group.n or group.kept < group.n:
        sentence = (
            f"Annotators: {group.n}; passing quality control: {passing}, with "
            f"{words.whole(group.judgements_kept)} of {words.whole(group.judgements)} judgements; "
            f"careless: {group.careless}; with too few bad references to tell: {group.untestable}; "
            f"counted: {'all' if group.kept == group.n else group.kept}."
        )
    blocks: list[model.Paragraph | model.Figure | model.ReportTable] = [model.Paragraph(sentence)]
    if PICTURES["annotators"].fits(report):
        blocks.append(PICTURES["annotators"].figure(report))
    return [model.Section("Annotators", tuple(blocks))]


def _agreement(rows: Sequence[reports.AgreementReport]) -> model.ReportTable:
    pairs = model.column("pairs", [row.pairs for row in rows])
    share = model.column("share", [row.share for row in rows], 3)
    groups = [model.Group("", (pairs, share))]
    for chance in ("uniform chance", "Cohen"):
        kappas = [row.cohen if chance == "Cohen" else row.uniform_chance for row in rows]
        values = model.column("kappa", [kappa.value if kappa else None for kappa in kappas], 3)
        ends = model.column("interval", [kappa.ci if kappa else None for kappa in kappas], 3)
        groups.append(model.Group(f"kappa, {chance}", (values, ends)))
    return model.ReportTable(
        name="agreement",
        caption="Agreement",
        names=(
            model.names("criterion", [row.criterion for row in rows]),
            model.column("judges", [row.judges for row in rows]),
        ),
        groups=tuple(groups),
    )


def _gain(report: reports.HumanReport) -> list[model.Block]:
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
        model.column("criterion", [row[1] for row in rows]),
        model.column("scores", [row[3] for row in rows]),
    ]
    if any(name for name, *_ in rows):
        sides.insert(0, model.names("pair", [name for name, *_ in rows]))
    table = model.ReportTable(
        name="gain",
        caption="Gain",
        names=tuple(sides),
        groups=(model.Group("", tuple(c for c in _gain_columns(report, rows) if any(c.cells))),),
    )
    blocks: list[model.Block] = [table]
    for gain in report.gain:
        known = [
            f"{value:.{decimals}f} ({unit})"
            for unit, value, decimals in (("z", gain.f1_z, FINE), ("raw", gain.f1_raw, 1))
            if value is not None
        ]
        if known:
            of = f" of {gain.name}" if gain.name else ""
            f1 = f"F1 of the gains of adequacy and fluency{of}: {', '.join(known)}."
            blocks.append(model.Paragraph(f1))
    return blocks


def _gain_columns(report: reports.HumanReport, rows: Sequence[GainRow]) -> Iterator[model.Column]:
    """Both systems on both test sets, as the published tables have them, and the gain."""
    places = [FINE if unit == "z" else _raw_places(report) for _, _, _, unit, _ in rows]
    for what in ("current_old", "current_new", "p_current", "delta", "best_old", "best_new",
                 "p_best", "gain"):  # fmt: skip
        cells: list[model.Cell | None] = []
        for (_, _, gained, _, figures), decimals in zip(rows, places, strict=True):
            if what.startswith("p_"):
                p: float | None = getattr(gained, what)
                significant = p is not None and p <= report.alpha
                cells.append(model.decided(p, report.alpha, significant))
            else:
                signed = what in {"delta", "gain"}
                cells.append(model.Number(getattr(figures, what), decimals, signed))
        heading = "p" if what.startswith("p_") else what.replace("_", ", ")
        yield model.Column(heading, tuple(cells))
    yield model.Column("interval", tuple(
        model.Interval(*figures.ci, decimals) if figures.ci else None
        for (*_, figures), decimals in zip(rows, places, strict=True)
    ))  # fmt: skip


def sentences(report: reports.HumanReport, sources: Sources) -> Iterator[str]:
    """What was judged, who counts, how scores came about, and what was tested."""
    used = reports.judged(report)
    criteria = [criterion for criterion in report.criteria if criterion]
    by = f" by {listed(criteria)}" if criteria else ""
    verb = "Judges compared" if report.preferences else "People judged"
    yield f"{verb} {len(report.systems)} systems{by} in {used:,} judgements."
    if report.preferences is not None:
        yield from strengths.sentences(report, report.preferences, sources)
    if report.annotators and report.annotators.filtered:
        who, (what, paper) = report.annotators, QUALITY[report.annotators.test]
        yield (
            f"Judgements count of the {who.kept} of {who.n} annotators who pass quality control "
            f"({what}, p below {who.threshold:g})"
            f"{sources.cite('graham-etal-2013-continuous', paper)}."
        )
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


def _tests(report: reports.HumanReport, sources: Sources) -> str:
    words, cited = TESTS[report.test]
    over = "strengths" if report.preferences else f"scores of {report.aggregate}s"
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


SMALLEST = 1e-12  # p that is drawn; smaller ones lie on the floor


def heatmap_plot(report: reports.HumanReport, criterion: str | None = None) -> str:
    """P-values of all ordered pairs by one criterion: is the row's system better?

    Args:
        report: Of a human evaluation.
        criterion: Its name, or `combined`; the report's own conclusions where none is named.

    Raises:
        RecipeError: A criterion that the report does not have.
    """
    known = list(dict.fromkeys(pair.criterion for pair in report.pairs))
    return _heatmap(report, [choose(criterion or known[-1], known, "criterion", "criterion")])


def panels_plot(report: reports.HumanReport) -> str:
    """The same for all criteria and their combination side by side.

    As Figure 7 of Graham, Mathur & Baldwin (2014).
    """
    return _heatmap(report, list(dict.fromkeys(pair.criterion for pair in report.pairs)))


def _heatmap(report: reports.HumanReport, criteria: Sequence[str]) -> str:
    order_by = criteria[0] if len(criteria) == 1 else report.pairs[-1].criterion
    systems = in_order(report, order_by)
    names = [system.name for system in systems]
    told, panels = [], []
    for criterion in criteria:
        pairs = [pair for pair in report.pairs if pair.criterion == criterion]
        apart = sum(pair.conclusion != "tie" for pair in pairs)
        told.append(f"{criterion} separates {apart} of {len(pairs)} pairs")
        starts = [0, *_openings(systems, criterion), len(systems)]
        cells = marks.beaten(_ordered_p(report, criterion), words.short_probability)
        panels.append(marks.Panel(cells, criterion if len(criteria) > 1 else "", starts=starts))
    drawing = Drawing(
        f"{' / '.join(['{}'] * len(criteria))}: who is better than whom",
        f"From best to worst: {', '.join(names)}. {'; '.join(told)}.",
        tuple(criteria),
        (f"{words.in_words(report.test)}, one-sided, {words.p_in_words(report.correction)}",),
        width=PAGE if len(criteria) > 1 else COLUMN,
    )
    marks.matrix(drawing, names, {"": panels}, least=7.0, most=24.0)
    drawing.legend([*marks.level_words(), marks.CLUSTER])
    return drawing.svg()


def in_order(report: reports.HumanReport, criterion: str) -> list[reports.JudgedSystem]:
    """Systems from best to worst: by mean; combined conclusions by cluster and rank range first."""

    def place(system: reports.JudgedSystem) -> tuple[float, ...]:
        own = system.criteria.get(criterion)
        if own is not None:
            return (-report.sign(criterion) * _mean(own),)
        return system.cluster, sum(system.range), -report.sign(criterion) * _mean(system)

    return sorted(report.systems, key=place)


def _mean(own: reports.JudgedSystem | reports.CriterionReport) -> float:
    """What was tested, on average."""
    if isinstance(own, reports.JudgedSystem) and own.strength is not None:
        return 0.0  # reports have them from best to worst
    return next((value for value in (own.z, own.raw) if value is not None), 0.0)


def _openings(systems: Sequence[reports.JudgedSystem], criterion: str) -> list[int]:
    """Places at which a new cluster begins, the first one left out.

    None where the systems are in the order of other conclusions, which mixes the clusters.
    """
    clusters = [(system.criteria.get(criterion) or system).cluster for system in systems]
    if clusters != sorted(clusters):
        return []
    return [i + 1 for i, (above, below) in enumerate(pairwise(clusters)) if below > above]


def _ordered_p(report: reports.HumanReport, criterion: str) -> marks.Ordered:
    """For every ordered pair, the p-value of the claim that the first is better, corrected.

    The correction is known for the more likely direction only; the other one has no smaller value.
    """
    p = {}
    for pair in report.pairs:
        if pair.criterion == criterion:
            likely = pair.p_greater <= pair.p_less
            greater, less = (max(one, pair.p_adjusted) for one in (pair.p_greater, pair.p_less))
            p[pair.a, pair.b] = pair.p_adjusted if likely else greater
            p[pair.b, pair.a] = less if likely else pair.p_adjusted
    return p


def boxes_plot(report: reports.HumanReport, criterion: str | None = None) -> str:
    """How each system's scores are spread: boxes in the order of clusters.

    Args:
        report: Of a human evaluation.
        criterion: Its name; the first where none is named.

    Raises:
        RecipeError: A criterion that the report does not have.
    """
    criterion = choose(criterion or report.criteria[0], report.criteria, "criterion", "criterion")
    systems = in_order(report, criterion)
    openings, rows, told = _openings(systems, criterion), [], []
    for i, system in enumerate(systems):
        own = system.criteria[criterion]
        first, low, middle, high, last = own.box
        told.append(f"{system.name} median {middle:.3g}, quartiles {low:.3g} and {high:.3g}")
        mean = _mean(own)
        number = words.fixed(mean, 2).replace("-", words.MINUS)
        box, ruled = (low, middle, high), i in openings
        rows.append(
            marks.ForestRow((system.name,), mean, number, (first, last), ruled=ruled, box=box)
        )
    unit = "z" if report.tested == "z" else "score"
    drawing = Drawing(
        f"{{}}: {unit} by {report.aggregate}", f"{'; '.join(told)}.", (criterion,),
        ("box: quartiles and median; whiskers: within 1.5 of the box; mark: mean",),
    )  # fmt: skip
    marks.forest(drawing, marks.Forest(rows))
    return drawing.svg()


def gain_plot(report: reports.HumanReport) -> str:
    """Longitudinal gains with their intervals, one row a language pair and criterion.

    They are raw, or standardised where raw scores are unknown.
    """
    raw = all(own.raw is not None for gain in report.gain for own in gain.criteria.values())
    rows = []
    for gain in report.gain:
        for criterion, own in gain.criteria.items():
            figures = own.raw if raw else own.z
            if figures is not None:
                number, ends = words.signed(figures.gain, 2), figures.ci
                number += f" {words.interval(ends, 2)}" if ends else ""
                apart = ends is not None and not ends[0] <= 0 <= ends[1]
                label = (f"{gain.name} {criterion}".strip(),)
                rows.append(
                    marks.ForestRow(
                        label, figures.gain, number.replace("-", words.MINUS), ends, apart
                    )
                )
    return marks.forest_picture(
        f"Gain ({'points' if raw else 'z'}), {words.percent(1 - report.alpha)} intervals",
        rows,
        f"best new {words.MINUS} best old + current old {words.MINUS} current new",
    )


def annotators_plot(report: reports.HumanReport) -> str:
    """Annotators: the p-value of their quality control against the time they take.

    As Figure 4 of Graham, Baldwin, Moffat & Zobel (2013).
    """
    annotators, rows = report.annotators, _timed(report)
    assert annotators is not None
    passed = [verdict == "kept" for _, _, verdict in rows]
    test = words.in_words(annotators.test)
    told = [f"{sum(passed)} of {len(rows)} annotators pass {test}"]
    for what, verdict in (("careful", "kept"), ("careless", "careless")):
        times = [seconds for seconds, _, own in rows if own == verdict]
        if times:
            mean = sum(times) / len(times)
            told.append(f"{what} ones take {mean:.3g} seconds on average")
    drawing = Drawing(
        "Annotators: p-value against time",
        f"{'; '.join(told)}.",
        lines=(f"{test}; p below {annotators.threshold:g} passes",),
    )
    points = [(seconds, math.log10(max(p, SMALLEST))) for seconds, p, _ in rows]
    low = min(-2.0, *(decade for _, decade in points)) - 0.3
    decades = range(0, math.ceil(low) - 1, -max(1, round(-low / 6)))
    ticks = [(d, f"{10.0**d:g}" if d > -3 else f"1e{words.MINUS}{-d}") for d in decades]
    waits = marks.Axis.around([0.0, *(seconds for seconds, _ in points)], margin=0.03,
                        label="mean seconds a judgement")  # fmt: skip
    x, y = marks.plane(drawing, waits, marks.Axis(low, 0.15, ticks=ticks))
    marks.level(drawing, x, y(math.log10(annotators.threshold)))
    marks.scatter(drawing, x, y, points, passed)
    drawing.legend([("filled", "passes"), ("hollow", "does not")])
    return drawing.svg()


def _timed(report: reports.HumanReport) -> list[tuple[float, float, str]]:
    """Seconds, p-value and verdict of annotators for whom both are known."""
    rows, group = list[tuple[float, float, str]](), report.annotators
    for row in group.each if group else ():
        p: float | None = getattr(row, group.test if group else "")
        if p is not None and row.seconds is not None and row.verdict != "untestable":
            rows.append((row.seconds, p, row.verdict))
    return rows


def _conclusions(report: reports.HumanReport) -> list[dict[str, str]]:
    """The report's own conclusions, which are by the last criterion; and those by the others."""
    known = list(dict.fromkeys(pair.criterion for pair in report.pairs))
    return [{}, *({"criterion": criterion} for criterion in known[:-1])]


def _scores(report: reports.HumanReport) -> list[dict[str, str]]:
    """Every criterion, where there are scores."""
    scored = any(system.criteria for system in report.systems) and report.tested in {"raw", "z"}
    others = [{"criterion": criterion} for criterion in report.criteria[1:]]
    return [{}, *others] if scored else []


_PREFERENCES = where(lambda report: report.preferences is not None)

PICTURES: dict[str, Picture] = {
    picture.name: picture
    for picture in (
        Picture(
            "heatmap", "Which system people find better than which", heatmap_plot, _conclusions
        ),
        Picture(
            "strengths", "Strengths of systems, with intervals", strengths.strengths_plot,
            _PREFERENCES, lacks="strengths, only scores",
        ),
        Picture(
            "wins", "How probably one system is preferred to another", strengths.wins_plot,
            _PREFERENCES, lacks="comparisons of systems, only scores",
        ),
        Picture(
            "criteria", "The same for every criterion and for all combined", panels_plot,
            where(lambda report: len(report.criteria) > 1),
        ),
        Picture("boxes", "Scores of segments by system", boxes_plot, _scores, lacks="scores"),
        Picture(
            "annotators", "Each annotator's p-value and time for a judgement", annotators_plot,
            where(lambda report: bool(_timed(report))),
            lacks="annotators with a p-value and a time",
        ),
        Picture(
            "gain", "Gain over the years, with its interval", gain_plot,
            where(lambda report: bool(report.gain)), lacks="longitudinal gain",
        ),
    )
}  # fmt: skip
