"""The answer of a human evaluation: a function of the judgements, the choices and the version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sigtest.kinds.renderable import Renderable
from sigtest.report import Ends, Methods, Warnings


@dataclass(frozen=True)
class SourceReport:
    """One file of judgements, or the rows of a request.

    Attributes:
        input: Format it was read as.
        rows: Rows in it, without a header.
        used: Rows that count in this evaluation.
        dropped: Rows that do not, by reason.
        sha256: Hash of its bytes; of the rows as canonical JSON where they came in the request.
    """

    input: str
    rows: int
    used: int
    dropped: Mapping[str, int]
    sha256: str


def judged(report: HumanReport) -> int:
    """How many judgements count: rows, unless these are errors (MQM) or means of several."""
    inputs = {source.input for source in report.sources}
    if "mqm" in inputs and report.annotators is not None:
        return report.annotators.judgements
    if "wmt_da_segments" in inputs:
        return sum(system.n_judgements for system in report.systems)
    return sum(source.used for source in report.sources)


@dataclass(frozen=True)
class AnnotatorReport:
    """One annotator's quality and effort.

    Attributes:
        n: Judgements.
        seconds: Mean seconds a judgement; null where unknown.
        bad_references: Pairs of a system's output and its degraded copy.
        repeats: Pairs of an output and the same output again.
        paired_t: P-value: degraded copies score lower (paired t, one-sided); null where there are
            fewer than two pairs.
        signed_rank: The same by Wilcoxon's signed rank.
        welch: P-value: repeats differ less than degraded copies do (Welch's t, one-sided).
        mann_whitney: The same by the Mann-Whitney test.
        repeats_t: P-value: the second score of a repeat differs from the first (paired t,
            two-sided); assumption A holds where it is not small.
        verdict: `kept`, `careless` or `untestable`, by the test that was asked for.
        name: Pseudonym; absent unless it was asked for.
    """

    n: int
    seconds: float | None
    bad_references: int
    repeats: int
    paired_t: float | None
    signed_rank: float | None
    welch: float | None
    mann_whitney: float | None
    repeats_t: float | None
    verdict: str
    name: str | None = None


@dataclass(frozen=True)
class AnnotatorsReport:
    """Quality control of all annotators.

    Attributes:
        n: Annotators.
        kept: Those whose judgements count: all, unless quality control was asked for.
        careless: Those who score degraded copies no lower than the outputs.
        untestable: Those with too few pairs to tell.
        filtered: Whether careless and untestable ones were left out.
        test: Test that gives the verdicts.
        threshold: P-value below which an annotator is careful.
        min_pairs: Pairs that a test needs.
        judgements: Judgements of all annotators.
        judgements_kept: Judgements of those who pass the test.
        assumption_a: Annotators who pass the test and whose repeats do not differ from the first
            scores on average (Graham et al. 2014, EACL, Table 1).
        seconds: Seconds of all judgements together; null where unknown.
        seconds_per_judgement: Median over judgements; null where unknown.
        each: One entry an annotator, in order of first appearance.
    """

    n: int
    kept: int
    careless: int
    untestable: int
    filtered: bool
    test: str
    threshold: float
    min_pairs: int
    judgements: int
    judgements_kept: int
    assumption_a: int
    seconds: float | None
    seconds_per_judgement: float | None
    each: tuple[AnnotatorReport, ...]


@dataclass(frozen=True)
class CriterionReport:
    """A system's scores for one criterion.

    Attributes:
        n_judgements: Judgements of its outputs, repeats included.
        n_segments: Segments with a score.
        raw: Mean over segments, or over documents where these are what is tested (`aggregate`), of
            the scores as given; null where only standardised ones are known.
        z: The same of the standardised scores, turned round where less is better; null where scores
            were not standardised.
        sd: Standard deviation of the scores that were tested, over units, with n - 1.
        ci: Interval of their mean at level 1 - alpha, from Student's t; null for a single unit.
        box: Lower whisker, quartile, median, quartile, upper whisker of these scores; whiskers
            reach the furthest score within 1.5 interquartile ranges.
        cluster: 1-based rank cluster by this criterion alone.
        range: Ranks it may have: 1 + systems significantly better, systems - those worse.
    """

    n_judgements: int
    n_segments: int
    raw: float | None
    z: float | None
    sd: float | None
    ci: tuple[float, float] | None
    box: tuple[float, float, float, float, float]
    cluster: int
    range: tuple[int, int]


@dataclass(frozen=True)
class StrengthReport:
    """A system's strength, from comparisons with others.

    Attributes:
        value: In log odds, strengths of all systems having the mean 0; null where the comparisons
            do not determine it.
        stderr: Its standard error; null likewise.
        ci: Interval at level 1 - alpha; null at an end without a bound.
        probability: Of being preferred to a system of mean strength, ties counting half.
        probability_ci: Its interval.
    """

    value: float | None
    stderr: float | None
    ci: Ends
    probability: float | None
    probability_ci: Ends


@dataclass(frozen=True)
class JudgedSystem:
    """One system.

    Attributes:
        name: As in the file, or as an alias has it.
        n_judgements: Judgements of its outputs, repeats included, all criteria together.
        n_segments: Segments with a score.
        raw: Mean over segments, or over documents where these are what is tested (`aggregate`), of
            the scores as given, pooled over criteria; of comparisons, the percentage of them won
            (ties left out). Null where only standardised scores are known, where less is
            better of some criteria only, and where all comparisons are ties.
        z: The same of the standardised scores, turned round where less is better; null where scores
            were not standardised.
        sd: Standard deviation of the tested scores over units, pooled, with n - 1.
        ci: Interval at level 1 - alpha of the mean that was tested: Student's t over units. Null
            for comparisons, for a single unit, and where less is better of some of the criteria
            that were tested raw.
        cluster: 1-based rank cluster; by the combined conclusions where there are two criteria.
        range: Ranks it may have: 1 + systems significantly better, systems - those worse.
        criteria: The same by criterion; none of comparisons.
        strength: Of comparisons, what they say of the system.
    """

    name: str
    n_judgements: int
    n_segments: int
    raw: float | None
    z: float | None
    sd: float | None
    ci: tuple[float, float] | None
    cluster: int
    range: tuple[int, int]
    criteria: Mapping[str, CriterionReport]
    strength: StrengthReport | None = None


@dataclass(frozen=True)
class JudgedPair:
    """Two systems by one criterion; both directions in one row.

    Attributes:
        a: First system, in the order of `systems`.
        b: Second system.
        criterion: Criterion, or `combined`: the first criterion that separates the two.
        test: Name of the test.
        n_a: Units of a; of paired tests the units that both have; of comparisons those of the two
            that were no tie, weights summed.
        n_b: Units of b, likewise.
        difference: Mean of a - mean of b, of what was tested: raw scores as given, standardised
            ones turned round where less is better; of comparisons the strength of a less that of b,
            null where they do not determine it.
        u: The test's statistic: U of a (rank sum), the sum of ranks where a is better (signed
            rank), the mean difference (randomization), comparisons of the two that a wins.
        p_greater: One-sided p-value of the claim that a is better.
        p_less: One-sided p-value of the claim that b is.
        log10_p: Decimal logarithm of the smaller of the two; exact where they are printed as 0.
        p_adjusted: The smaller of the two, corrected over all ordered pairs of this criterion.
        conclusion: `a`, `b` or `tie`, at alpha.
        decided_by: Of a combined row, the criterion it was taken from.
        exact: Whether every sign pattern was counted.
        ties: Comparisons of the two that are ties.
        probability: Of a being preferred to b, ties counting half.
        ci: Interval of the difference of strengths at level 1 - alpha.
    """

    a: str
    b: str
    criterion: str
    test: str
    n_a: int | float
    n_b: int | float
    difference: float | None
    u: float
    p_greater: float
    p_less: float
    log10_p: float
    p_adjusted: float
    conclusion: str
    decided_by: str | None = None
    exact: bool = False
    ties: float | None = None
    probability: float | None = None
    ci: Ends | None = None


@dataclass(frozen=True)
class KappaReport:
    """One kappa.

    Attributes:
        value: (P_a - P_e) / (1 - P_e).
        ci: Interval at level 1 - alpha, from drawing annotators anew; null where they are too few.
    """

    value: float
    ci: tuple[float, float] | None


@dataclass(frozen=True)
class AgreementReport:
    """How far judgements of one thing agree.

    Attributes:
        criterion: Of the judgements.
        judges: `same` (intra: repeats) or `distinct` (inter: two annotators, one output).
        categories: Number of categories the scores were put into, k.
        bins: `percentiles` of all scores, equal `intervals` of the scale, or `relations` (better,
            tied, worse: comparisons).
        pairs: Pairs of judgements.
        agreed: Pairs in the same category.
        share: agreed / pairs, P_a.
        uniform_chance: Kappa with P_e = 1 / k, as the papers print it.
        cohen: Kappa with P_e from the annotators' own use of the categories; null where that is 1.
        mean_difference: Mean of |difference| of the scores as given; null for comparisons.
        sd_difference: Their standard deviation, with n - 1; null for a single pair.
    """

    criterion: str
    judges: str
    categories: int
    bins: str
    pairs: int
    agreed: int
    share: float
    uniform_chance: KappaReport
    cohen: KappaReport | None
    mean_difference: float | None
    sd_difference: float | None


@dataclass(frozen=True)
class GainFigures:
    """Gain in one unit of scores.

    Attributes:
        current_old: Mean of the current system on the old test set.
        current_new: Its mean on the new test set.
        delta: current_old - current_new: how much harder the new test set is.
        best_old: Mean of the best old system on the old test set.
        best_new: Mean of the best new system on the new test set.
        gain: best_new - best_old + delta.
        ci: Bootstrap interval of the gain over segments at level 1 - alpha, the two systems of a
            test set drawn together; null for a mean over languages.
    """

    current_old: float
    current_new: float
    delta: float
    best_old: float
    best_new: float
    gain: float
    ci: tuple[float, float] | None


@dataclass(frozen=True)
class CriterionGain:
    """Longitudinal gain by one criterion.

    Attributes:
        raw: In the units of the scores as given; null where those are unknown.
        z: In standardised units; null where scores were not standardised.
        p_current: One-sided rank-sum p-value of the larger mean of the current system against the
            smaller; null for a mean over language pairs.
        p_best: The same for the best systems.
        stars: `*`, `**`, `***` for p-values below .05, .01, .001, at the larger mean of each two:
            keys `current_old`, `current_new`, `best_old`, `best_new`; only where there are any.
    """

    raw: GainFigures | None
    z: GainFigures | None
    p_current: float | None
    p_best: float | None
    stars: Mapping[str, str]


@dataclass(frozen=True)
class GainReport:
    """Longitudinal gain of one language pair.

    Attributes:
        name: Of the language pair; `mean` for the unweighted mean over several.
        criteria: By criterion.
        f1_raw: Harmonic mean of the gains of adequacy and fluency, in raw units; null where one is
            unknown or negative.
        f1_z: The same in standardised units.
    """

    name: str
    criteria: Mapping[str, CriterionGain]
    f1_raw: float | None
    f1_z: float | None


@dataclass(frozen=True)
class UnitReport:
    """What would follow if other units were drawn anew.

    Attributes:
        unit: `judgement`, `item`, `judge` or `cluster`.
        units: How many there are.
        separated: Pairs that are separated, all errors being sandwiches.
        changed: Pairs with another conclusion than with the unit of the report.
        design: Median over pairs of the variance of their difference, over that with the unit of
            the report.
    """

    unit: str
    units: int
    separated: int
    changed: int
    design: float


@dataclass(frozen=True)
class FitPair:
    """A pair that the order of strengths does not explain well.

    Attributes:
        a: First system.
        b: Second system.
        comparisons: Of the two, weights summed.
        observed: Share of them that a won, ties counting half.
        expected: The same from the strengths.
        z: Difference of the two in standard errors.
    """

    a: str
    b: str
    comparisons: float
    observed: float
    expected: float
    z: float


@dataclass(frozen=True)
class FitReport:
    """Whether one order of strengths explains all pairs.

    Attributes:
        chi_square: Pearson's, over pairs that met, divided by the dispersion.
        df: Pairs that met, less strengths that were fitted.
        dispersion: How much more comparisons vary than independent ones, from the units (Rao &
            Scott 1981, first-order correction).
        p_value: Of pairs that are explained.
        worst: Those that are explained worst.
    """

    chi_square: float
    df: int
    dispersion: float
    p_value: float
    worst: tuple[FitPair, ...]


@dataclass(frozen=True)
class PositionReport:
    """Whether the system that is shown first is preferred for that.

    Attributes:
        share: Of comparisons that the first system won, ties counting half.
        effect: Of standing first, in log odds, strengths being equal; one step of Newton's method.
        stderr: Its standard error.
        p_value: Two-sided.
    """

    share: float
    effect: float
    stderr: float
    p_value: float


@dataclass(frozen=True)
class PreferencesReport:
    """How strengths came about, and how far they may be trusted.

    Attributes:
        comparisons: How many there are.
        tied: Share of them that are ties.
        ties: `davidson` or `half`: ties have a probability of their own, or are two half wins.
        nu: Davidson's parameter of ties; null where ties are half wins.
        unit: What was drawn anew: `judgement`, `item`, `judge` or `cluster`.
        units: How many there are.
        errors: `bootstrap` or `sandwich`.
        resamples: How many were drawn; 0 for the sandwich.
        without_maximum: Share of the resamples whose likelihood has no maximum; null for the
            sandwich.
        rank_confidence: 1 - alpha where rank ranges hold all true ranks together so often; null
            where p-values are not corrected for that.
        undetermined: Systems whose strengths the comparisons do not determine.
        other_units: What would follow with other units.
        fit: Whether one order explains all pairs; null where none could contradict it.
        position: Effect of standing first; null where positions are unknown.
        win_rate: Share of comparisons, ties counting half, that was asked about.
        needed: Comparisons of two systems that show it with a power of .8 at the level of the
            smallest p-value, if they are of units such as these and as often ties.
    """

    comparisons: int
    tied: float
    ties: str
    nu: float | None
    unit: str
    units: int
    errors: str
    resamples: int
    without_maximum: float | None
    rank_confidence: float | None
    undetermined: tuple[str, ...]
    other_units: tuple[UnitReport, ...]
    fit: FitReport | None
    position: PositionReport | None
    win_rate: float | None = None
    needed: int | None = None


@dataclass(frozen=True, repr=False)
class HumanReport(Renderable):
    """A finished human evaluation.

    Attributes:
        signature: The line that reproduces it.
        version: Of sigtest.
        languages: Language pair; null where unknown.
        criteria: In the order in which they decide.
        standardise: `annotator`, `annotator_no_refs` or `none`.
        tested: What tests were run on: `z`, `raw` or `preferences`.
        test: Name of the test.
        aggregate: What one observation of a test is: `segment` or `document`.
        alpha: Level of the decisions; intervals have level 1 - alpha.
        correction: Correction for multiple comparisons; `none` as WMT publishes its findings.
        seed: Of all draws.
        higher_is_better: By criterion: false where less is better, as of penalties.
        sources: In the order given.
        annotators: Quality control; null where annotators are unknown.
        systems: In order of first appearance; of comparisons from best to worst.
        pairs: By criterion, then pair; where there are several criteria, `combined` comes last.
        agreement: By criterion; same judge before distinct ones.
        gain: By language pair; empty unless asked for.
        warnings: What the reader must not overlook.
        methods: How the numbers came about, for a paper.
        preferences: Of comparisons, how strengths came about and how far they may be trusted.
    """

    path = "human-evaluations"

    signature: str
    version: str
    languages: str | None
    criteria: tuple[str, ...]
    standardise: str
    tested: str
    test: str
    aggregate: str
    alpha: float
    correction: str
    seed: int
    higher_is_better: Mapping[str, bool]
    sources: tuple[SourceReport, ...]
    annotators: AnnotatorsReport | None
    systems: tuple[JudgedSystem, ...]
    pairs: tuple[JudgedPair, ...]
    agreement: tuple[AgreementReport, ...]
    gain: tuple[GainReport, ...]
    warnings: Warnings
    methods: Methods | None = None
    preferences: PreferencesReport | None = None

    @property
    def by_criterion(self) -> dict[str, list[JudgedPair]]:
        """Pairs by criterion; those that decide are by the last."""
        pairs: dict[str, list[JudgedPair]] = {}
        for pair in self.pairs:
            pairs.setdefault(pair.criterion, []).append(pair)
        return pairs

    def sign(self, criterion: str) -> float:
        """-1 where less is better of the means that were tested; several criteria decide alike."""
        of = [criterion] if criterion in self.criteria else self.criteria
        lower = self.tested == "raw" and not any(self.higher_is_better[name] for name in of)
        return -1.0 if lower else 1.0
