"""A human evaluation as people read it, as records, and as a paper tells it."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from sigtest.people import report as reports
from sigtest.people.pictures import PICTURES, PLACES, in_order, openings
from sigtest.render import model, records, words
from sigtest.render.comparison import MANY
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
STRENGTHS = (
    ("strength", "strength.value", PLACES, True),
    ("interval", "strength.ci", PLACES),
    ("preferred", "strength.probability", PLACES),
    ("interval", "strength.probability_ci", PLACES),
    ("won %", "raw", 1),
    ("judgements", "n_judgements"),
)
COMPARED = ("ties", "probability", "ci")  # fields of pairs that comparisons alone have
GAINS = ("current_old", "current_new", "p_current", "delta", "best_old", "best_new", "p_best",
         "gain")  # fmt: skip


def answer(report: reports.HumanReport) -> tuple[str, ...]:
    """Whom people find best, and into how many clusters they put the systems."""
    ranges = {system.name: system.range for system in in_order(report)}
    clusters = len({system.cluster for system in report.systems})
    *_, pairs = report.by_criterion.values()
    apart = sum(pair.conclusion != "tie" for pair in pairs)
    into = f"{clusters} clusters" if clusters > 1 else "one cluster: no pair is separated"
    if clusters == 1 and apart:
        are = "is" if apart == 1 else "are"
        into = f"one cluster, in which {apart:,} of {len(pairs):,} pairs {are} separated"
    return (
        leaders(ranges, "by preference" if report.preferences else "as people judge", "system"),
        f"{len(ranges)} systems fall into {into}.",
    )


def systems_sheet(report: reports.HumanReport) -> model.Sheet:
    """One record a system and criterion, and one of all criteria together where there are two."""
    if report.preferences:
        return _strengths_sheet(report)
    names = tuple(name for name in records.fields_of(reports.CriterionReport) if name != "box")
    rows = []
    for system in report.systems:
        scores: dict[str, object] = {COMBINED: system, **system.criteria}
        if len(report.criteria) == 1:
            scores = {report.criteria[0]: system}
        rows += [[system.name, name, *records.record(own, names)] for name, own in scores.items()]
    return model.Sheet(("system", "criterion", *records.columns(names)), rows)


def _strengths_sheet(report: reports.HumanReport) -> model.Sheet:
    """One record a system: its strength, then what all systems have."""
    own = ("value", "stderr", "ci", "probability")
    also = ("raw", "n_judgements", "n_segments", "cluster", "range")
    names = ("system", "strength", *records.columns(own)[1:], *records.columns(also))
    rows = [
        [system.name, *records.record(system.strength, own), *records.record(system, also)]
        for system in report.systems
    ]
    known = [[None if cell in (math.inf, -math.inf) else cell for cell in row] for row in rows]
    return model.Sheet(names, known)


def pairs_sheet(report: reports.HumanReport) -> model.Sheet:
    """One record a pair."""
    apart = () if report.preferences else COMPARED
    names = tuple(name for name in records.fields_of(reports.JudgedPair) if name not in apart)
    return records.sheet(names, report.pairs)


SHEETS = {"pairs": pairs_sheet, "systems": systems_sheet}


def document(report: reports.HumanReport) -> model.Document:
    """Systems by rank, who is better than whom, annotators, agreement, gain."""
    legend: dict[model.Mark, str] = {}
    if report.gain or any(pair.conclusion != "tie" for pair in report.pairs):
        also = ", p of gains without" if report.gain and report.correction != "none" else ""
        legend = {"significant": words.limit_in_words(report.correction, report.alpha, also)}
    return model.Document(
        title=f"Human evaluation of {len(report.systems)} systems",
        facts=_facts(report),
        answer=answer(report),
        blocks=tuple(_blocks(report)),
        marks=legend,
    )


def _blocks(report: reports.HumanReport) -> Iterator[model.Block]:
    yield _systems(report)
    reasons = sum((Counter(source.dropped) for source in report.sources), Counter[str]())
    if reasons:
        rows, used = (
            words.whole(sum(getattr(source, what) for source in report.sources))
            for what in ("rows", "used")
        )
        why = ", ".join(f"{reason} {words.whole(n)}" for reason, n in reasons.items())
        yield model.Paragraph(f"Of {rows} rows, {used} count; left out: {why}.")
    if report.preferences is not None:
        yield _strengths_in_words(report.preferences)
        yield from (PICTURES[name].figure(report) for name in ("strengths", "wins"))
    for criterion, pairs in report.by_criterion.items():
        drawn = [
            picture.figure(report, criterion=criterion)
            for picture in (PICTURES["heatmap"], PICTURES["boxes"])
            if picture.fits(report) and (picture.name == "heatmap" or criterion in report.criteria)
        ]
        yield model.Section(criterion, (*drawn, _pairs(report, pairs, criterion)))
    if report.preferences is not None:
        trust = tuple(_trust(report.preferences))
        yield model.Section("How far strengths may be trusted", trust)
    if report.annotators is not None:
        yield _annotators(report, report.annotators)
    if report.agreement:
        yield _agreement(report.agreement)
    if report.gain:
        yield from _gain(report)


def _facts(report: reports.HumanReport) -> tuple[str, ...]:
    correction = words.correction_in_words(report.correction)
    test = f"{words.in_words(report.test)}, one-sided both ways, {correction}"
    decided = test, f"alpha {report.alpha:g}"
    if own := report.preferences:
        how = f"{words.whole(own.resamples)} resamples" if own.resamples else "sandwich"
        return (
            f"{counted(own.comparisons, 'comparison')}, {100 * own.tied:.1f} % ties",
            "ties as Davidson" if own.nu else "ties as half wins",
            f"{how} over {counted(own.units, own.unit)}",
            *decided,
        )
    in_files = report.standardise == "none" and report.tested == "z"
    lower = f" (lower is better{', z turned round' if report.tested == 'z' else ''})"
    directed = [name + lower * (not report.higher_is_better[name]) for name in report.criteria]
    return (
        f"{words.whole(reports.judged(report))} judgements",
        ", ".join(directed),
        *(["means over documents"] if report.aggregate == "document" else []),
        f"standardised: {'in the files' if in_files else report.standardise}",
        *decided,
    )


def _systems(report: reports.HumanReport) -> model.ReportTable:
    """Best first; a rule where everyone above is better than everyone below."""
    ordered = in_order(report)
    standard, raw = report.tested == "z", ("raw", "raw", _raw_places(report))
    tested = ("interval", "ci", FINE if standard else raw[-1])
    shown = (
        ("z", "z", FINE),
        *((tested, raw) if standard else (raw, tested)),
        ("judgements", "n_judgements"),
        ("segments", "n_segments"),
    )
    ranks = model.column("rank", (model.Range(*system.range) for system in ordered))
    if report.preferences is not None:
        items = model.column("items", [system.n_segments or None for system in ordered])
        columns = (ranks, *model.fields(ordered, *STRENGTHS), items)
    else:
        columns = (ranks, *model.fields(ordered, *shown))
    return model.ReportTable(
        name="systems",
        caption="Systems by rank",
        names=(model.names("system", [system.name for system in ordered]),),
        groups=model.plain(columns),
        breaks=frozenset(openings(ordered)),
        clusters="cluster",
        facts="; ".join(_facts(report)),
        things="systems",
    )


def _raw_places(report: reports.HumanReport) -> int:
    """Decimals that tell raw scores apart: of 0 to 100 fewer than of MQM's penalties."""
    known = [abs(system.raw) for system in report.systems if system.raw is not None]
    return 1 if max(known, default=COARSE) >= COARSE else 2


def _pairs(
    report: reports.HumanReport, pairs: Sequence[reports.JudgedPair], criterion: str
) -> model.ReportTable:
    claims = [((p.p_greater, p.p_less, p.p_adjusted), p.conclusion, False) for p in pairs]
    verdicts = [model.verdict(pair, pair.conclusion, "not separated") for pair in pairs]
    combined = any(pair.decided_by for pair in pairs)
    if report.preferences is None:
        places = _raw_places(report) if report.tested == "raw" else FINE
        differences = model.fields(pairs, ("a - b", "difference", places, True))
    else:
        places = int(not all(pair.u.is_integer() for pair in pairs))
        differences = (
            *model.fields(
                pairs,
                ("a - b", "difference", PLACES, True),
                ("interval", "ci", PLACES),
                ("preferred", "probability", PLACES),
                ("won", "u", places),
                ("ties", "ties", places),
            ),
            model.column("lost", [pair.n_a - pair.u for pair in pairs], places),
        )
    columns = (
        *differences,
        *model.claims(claims, report.alpha, report.correction),
        model.column("conclusion", verdicts),
        *(model.fields(pairs, ("decided by", "decided_by")) if combined else ()),
    )
    return model.ReportTable(
        name="pairs",
        caption="Pairs by all criteria, combined" if combined else f"Pairs by {criterion}",
        names=model.sides(pairs),
        groups=(model.Group("", columns),),
        things="pairs",
        folded_over=MANY,
        facts="; ".join(_facts(report)),
    )


def _strengths_in_words(own: reports.PreferencesReport) -> model.Paragraph:
    """What columns are, and what rank ranges promise."""
    ranks = ""
    if own.rank_confidence is not None:
        level = words.percent(own.rank_confidence)
        ranks = f" Rank ranges hold all true ranks together with {level} confidence."
    return model.Paragraph(
        "Strengths are log odds of winning, with mean 0; preferred: probability of being preferred "
        "to a system of mean strength, ties counting half; won: of comparisons without a tie."
        f"{ranks}"
    )


def _trust(own: reports.PreferencesReport) -> Iterator[model.Paragraph | model.ReportTable]:
    """What positions do, whether one order explains all pairs, and what other units would say."""
    if (at := own.position) is not None:
        among = " of systems whose strengths are determined" * bool(own.undetermined)
        yield model.Paragraph(
            f"The system that stands first is preferred in {100 * at.share:.1f} % of the "
            f"comparisons{among}; standing first is worth {at.effect:+.2f} in log odds "
            f"(standard error {at.stderr:.2f}, p = {at.p_value:.2g})."
        )
    if (fit := own.fit) is not None:
        yield model.Paragraph(
            f"Does one order of strengths explain all pairs? Chi-square {fit.chi_square:.1f} on "
            f"{fit.df} degrees of freedom, p = {fit.p_value:.2g}; comparisons vary "
            f"{fit.dispersion:.2f} times as much as independent ones."
        )
        halves = int(not all(row.comparisons.is_integer() for row in fit.worst))
        shares = [(name, name, PLACES) for name in ("observed", "expected")]
        fields = ("comparisons", "comparisons", halves), *shares, ("z", "z", 1)
        yield model.ReportTable(
            name="fit",
            caption="Pairs that strengths explain worst: share that a won",
            names=model.sides(fit.worst),
            groups=model.plain(model.fields(fit.worst, *fields)),
        )
    if own.win_rate is not None and own.needed is not None:
        yield model.Paragraph(
            f"About {words.whole(own.needed)} comparisons of two systems show with 80 % power that "
            f"one is preferred in {100 * own.win_rate:g} % of them, at the level of the smallest "
            f"p, if ties and {own.unit}s are as here."
        )
    if own.other_units:
        counts = [(name, name) for name in ("units", "separated", "changed")]
        shown = counts[0], ("design", "design", PLACES), *counts[1:]
        yield model.ReportTable(
            name="units",
            caption=f"With other units than {own.unit}: design is the variance beside it",
            names=model.fields(own.other_units, ("unit", "unit")),
            groups=model.plain(model.fields(own.other_units, *shown)),
        )


def _annotators(report: reports.HumanReport, group: reports.AnnotatorsReport) -> model.Section:
    """How many count, and why the others do not."""
    sentence = f"Annotators: {group.n}, none of them tested; counted: all."
    if group.untestable < group.n or group.kept < group.n:
        sentence = (
            f"Annotators: {group.n}; passing quality control: "
            f"{group.n - group.careless - group.untestable}, with "
            f"{words.whole(group.judgements_kept)} of {words.whole(group.judgements)} judgements; "
            f"careless: {group.careless}; with too few bad references to tell: {group.untestable}; "
            f"counted: {'all' if group.kept == group.n else group.kept}."
        )
    times = PICTURES["annotators"]
    drawn = (times.figure(report),) if times.fits(report) else ()
    return model.Section("Annotators", (model.Paragraph(sentence), *drawn))


def _agreement(rows: Sequence[reports.AgreementReport]) -> model.ReportTable:
    kappas = [
        model.Group(
            f"kappa, {chance}",
            model.fields(
                rows, ("kappa", f"{field}.value", FINE), ("interval", f"{field}.ci", FINE)
            ),
        )
        for chance, field in (("uniform chance", "uniform_chance"), ("Cohen", "cohen"))
    ]
    shares = model.fields(rows, ("pairs", "pairs"), ("share", "share", FINE))
    return model.ReportTable(
        name="agreement",
        caption="Agreement",
        names=(
            model.names("criterion", [row.criterion for row in rows]),
            *model.fields(rows, ("judges", "judges")),
        ),
        groups=(model.Group("", shares), *kappas),
    )


def _gain(report: reports.HumanReport) -> Iterator[model.Block]:
    """Means of the four systems, gains, and how they combine, in standardised and raw units."""
    rows = [
        ((gain.name, criterion, unit), _gain_cells(report, gained, figures, places))
        for gain in report.gain
        for criterion, gained in gain.criteria.items()
        for unit, places in (("z", FINE), ("raw", _raw_places(report)))
        if (figures := getattr(gained, unit)) is not None
    ]
    if not rows:
        return
    about, cells = zip(*rows, strict=True)
    pairs, criteria, units = zip(*about, strict=True)
    headings = ["p" if name.startswith("p_") else name.replace("_", ", ") for name in GAINS]
    columns = map(model.Column, (*headings, "interval"), zip(*cells, strict=True))
    yield model.ReportTable(
        name="gain",
        caption="Gain",
        names=(
            *([model.names("pair", pairs)] if any(pairs) else []),
            model.column("criterion", criteria),
            model.column("scores", units),
        ),
        groups=model.plain(columns),
    )
    for gain in report.gain:
        known = [
            f"{value:.{decimals}f} ({unit})"
            for unit, value, decimals in (("z", gain.f1_z, FINE), ("raw", gain.f1_raw, 1))
            if value is not None
        ]
        if known:
            of = f" of {gain.name}" if gain.name else ""
            f1 = f"F1 of the gains of adequacy and fluency{of}: {', '.join(known)}."
            yield model.Paragraph(f1)


def _gain_cells(
    report: reports.HumanReport, gained: reports.CriterionGain, figures: reports.GainFigures,
    places: int,
) -> list[model.Cell | None]:  # fmt: skip
    """Both systems on both test sets, as the published tables have them, and the gain."""
    cells: list[model.Cell | None] = []
    for name in GAINS:
        if name.startswith("p_"):
            p: float | None = getattr(gained, name)
            cells.append(model.decided(p, report.alpha, p is not None and p <= report.alpha))
        else:
            signed = name in {"delta", "gain"}
            cells.append(model.Number(getattr(figures, name), places, signed))
    return [*cells, model.Interval(*figures.ci, places) if figures.ci else None]


def sentences(report: reports.HumanReport, sources: Sources) -> Iterator[str]:
    """What was judged, who counts, how scores came about, and what was tested."""
    used = reports.judged(report)
    criteria = [criterion for criterion in report.criteria if criterion]
    by = f" by {listed(criteria)}" if criteria else ""
    verb = "Judges compared" if report.preferences else "People judged"
    yield f"{verb} {len(report.systems)} systems{by} in {used:,} judgements."
    if report.preferences is not None:
        yield from _strengths_for_papers(report, report.preferences, sources)
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


def _strengths_for_papers(
    report: reports.HumanReport, own: reports.PreferencesReport, sources: Sources
) -> Iterator[str]:
    """How strengths came about, for a paper."""
    ties = "ties counting as two half wins"
    if own.ties == "davidson":
        cited = sources.cite("davidson-1970-extending")
        ties = f"ties having a probability of their own{cited}"
    how = f"the sandwich estimator{sources.cite('liang-zeger-1986-longitudinal')}"
    if own.resamples:
        drawn = f"{words.whole(own.resamples)} bootstrap resamples"
        how = f"one step of Newton's method in each of {drawn}"
    yield (
        "Strengths are maximum-likelihood estimates of the model of Bradley and Terry"
        f"{sources.cite('bradley-terry-1952-rank')}, {ties}. Standard errors come from {how} over "
        f"{counted(own.units, own.unit)}, and intervals and p-values from Student's t with "
        f"{own.units - 1} degrees of freedom."
    )
    if any(own.strength and own.strength.value is None for own in report.systems):
        yield (
            "Of systems whose strengths are not determined, p-values and bounds follow from the "
            "probability of winning, or losing, all comparisons with the others, the likeliest of "
            f"each {own.unit} counting."
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
