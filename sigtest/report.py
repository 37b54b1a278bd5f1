"""The finished answer: everything that a renderer needs, and nothing that changes between runs.

First how JSON has reports and questions: names of fields are names in JSON, and a field that equals
its default is left out. Then what reports are made of, which is documented here only; last a part
of a report, and the same report under other names.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    GetCoreSchemaHandler,
    PlainSerializer,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import core_schema

from sigtest.cached import cached_property
from sigtest.data.names import choose, look_alikes, summaries
from sigtest.errors import InputError, RecipeError
from sigtest.papers import Reference, papers
from sigtest.version import __version__

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
R = TypeVar("R", bound="DataclassInstance")


# JSON ------------------------


@dataclass(frozen=True, eq=False)
class ByClass:
    """Mark of a union of classes: JSON has a value under the name of its class.

    Attributes:
        former: What reads classes, by the names that they had when 0.2.0 stored them.
    """

    former: Mapping[str, Any] = field(default_factory=dict)

    def __get_pydantic_core_schema__(
        self, union: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        kinds = {getattr(kind, "__origin__", kind).__name__: kind for kind in get_args(union)}

        def write(value: object) -> dict[str, Any]:
            name = type(value).__name__
            return {name: _written(kinds[name], value)}

        def read(body: Mapping[str, Any]) -> Any:
            ((name, value),) = body.items()
            kind = kinds.get(name) or self.former.get(name)
            if kind is None:
                raise InputError(
                    f"This is no {' or '.join(kinds)} of sigtest {__version__}: {name}."
                )
            return adapter(kind).validate_python(value, extra="forbid")

        writing = core_schema.plain_serializer_function_ser_schema(write)
        return core_schema.no_info_plain_validator_function(read, serialization=writing)


def together(records: Sequence[T], names: Sequence[str]) -> tuple[T, ...]:
    """The same records, those with equal fields together, each group where its first one was."""
    groups: dict[tuple[Any, ...], list[T]] = {}
    for record in records:
        groups.setdefault(tuple(getattr(record, name) for name in names), []).append(record)
    return tuple(record for group in groups.values() for record in group)


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """What writes and reads values of a type, and describes them."""
    return TypeAdapter(kind)


def encode(value: Any) -> Any:
    """What JSON has of a report, or of a part of it."""
    return _written(type(value), value)


def _written(kind: Any, value: object) -> Any:
    return adapter(kind).dump_python(value, mode="json", exclude_defaults=True)


def decode(kind: type[T], body: object) -> T:
    """The value that `encode` wrote.

    Raises:
        InputError: A field is missing, unknown, or of another kind.
    """
    try:
        made: T = adapter(kind).validate_python(body, extra="forbid")  # type: ignore[arg-type]
    except ValidationError as error:
        names = ", ".join(field.name for field in fields(kind))  # type: ignore[arg-type]
        place = ".".join(map(str, error.errors()[0]["loc"]))
        raise InputError(
            f"This is no {kind.__name__} of sigtest {__version__}: its fields are {names}."
            + (f" The first that is wrong is {place}." if place else "")
        ) from error
    return made


def digest(content: Any) -> str:
    """Hash of a value as JSON has it."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


# What a paper says ------------------------


@dataclass(frozen=True)
class Methods:
    """How the numbers came about, in the words of a paper.

    Attributes:
        text: What was measured and how, tests, correction, intervals and version, with citations;
            of comparisons also the metrics' signatures, alternative, resamples and unit.
        references: What it cites, in the order of the text.
    """

    text: str
    references: tuple[Reference, ...]


class Sources:
    """Papers in the order in which they are first cited."""

    def __init__(self) -> None:
        self.cited: dict[str, Reference] = {}

    def cite(self, *keys: str) -> str:
        """`(Papineni et al., 2002; Post, 2018)`, with a space in front; nothing without keys.

        The second paper of the same authors and year is `2014b`.
        """
        for key in keys:
            paper = papers()[key]
            same = sum(papers()[own].cited == paper.cited for own in self.cited if own != key)
            cited = f"{paper.cited}{'abcdef'[same]}" if same else paper.cited
            self.cited.setdefault(key, replace(paper, cited=cited))
        return f" ({'; '.join(self.cited[key].cited for key in keys)})" if keys else ""

    def methods(self, sentences: Iterable[str]) -> Methods:
        """The sentences, last of all the software, and what they cite."""
        software = f"All numbers were computed with sigtest {__version__}{self.cite('sigtest')}."
        return Methods(" ".join([*sentences, software]), tuple(self.cited.values()))


def with_methods(report: R, sentences: Callable[[R, Sources], Iterable[str]]) -> R:
    """A report with what a paper says of it.

    Args:
        report: With a field `methods`.
        sentences: What a paper says of such a report; cites the sources that it is given.
    """
    sources = Sources()
    return replace(report, methods=sources.methods(sentences(report, sources)))


def listed(parts: Sequence[str]) -> str:
    """`a, b and c`."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def counted(count: int, noun: str) -> str:
    """`1 pair`, `3 pairs`, `1,003 pairs`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


# What a reader must not overlook ------------------------

# what each code means; `other` is that of sentences which older versions stored without one
WARNINGS: dict[str, str] = json.loads(Path(__file__).with_name("warnings.json").read_text("utf-8"))


@dataclass(frozen=True)
class WarningReport:
    """Something that a reader of a report must not overlook.

    Attributes:
        code: What sort of thing it is, for programs: sentences may change.
        message: The sentence, which other formats show.
        systems: Names of the systems that it is about; where nothing is named here and below, it is
            about the whole report, or about the references.
        pairs: Of each pair that it is about, the names of both systems.
        metrics: Labels of the metrics that it is about; in human evaluations, criteria.
        tests: Names of the significance tests that it is about.
        testset: The set of a metric evaluation that it is about. Each test set of a comparison on
            several has warnings of its own.
    """

    code: Annotated[str, WithJsonSchema({"type": "string", "enum": [*WARNINGS]})]
    message: str
    systems: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    metrics: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    testset: str | None = None

    def __str__(self) -> str:
        return self.message


# older versions stored the sentence alone
_SENTENCE = BeforeValidator(lambda own: WarningReport("other", own) if type(own) is str else own)
Warnings = tuple[Annotated[WarningReport, _SENTENCE], ...]


def warned_of_names(systems: Sequence[str], alike: bool = True) -> Iterator[WarningReport]:
    """Warnings about names of systems that are those of means and counts, or look alike."""
    for names, words in look_alikes(systems if alike else ()).items():
        yield WarningReport("look-alikes", words, names)
    for name, words in summaries(systems).items():
        yield WarningReport("summary", words, (name,))


# One metric, one system, one pair ------------------------


def _bounded(ends: tuple[float, float]) -> tuple[float | None, float | None]:
    """Both ends as JSON has them, which has no infinite number."""
    low, high = ends
    return low if math.isfinite(low) else None, high if math.isfinite(high) else None


def _read(ends: Sequence[float | None]) -> tuple[float, float]:
    low, high = ends
    return -math.inf if low is None else low, math.inf if high is None else high


Ends = Annotated[  # infinite where there is no bound
    tuple[float, float],
    BeforeValidator(_read),
    PlainSerializer(_bounded, return_type=tuple[float | None, float | None]),
]


@dataclass(frozen=True)
class MetricReport:
    """One metric: what its numbers are and which way is up.

    Attributes:
        higher_is_better: False for error rates such as TER.
        signature: Options, number of references, and version of the program it agrees with.
        shares: Whether every segment is right or wrong (0 or 1) and segments are the unit: then
            intervals are Wilson's, and those of differences Bonett and Price's (2012).
    """

    higher_is_better: bool
    signature: str
    shares: bool = False


@dataclass(frozen=True)
class RunsReport:
    """How a score varies that is the mean over several runs of each item.

    Items and runs are crossed: each variance is a mean square of the two-way analysis of variance,
    over the number of scores; its root is a standard error.

    Attributes:
        count: How many runs.
        item_variance: Variance of the score from the choice of items. Items and runs are crossed:
            each variance is a mean square of the two-way analysis of variance, over the number of
            scores, and its root a standard error (columns `item se` and `run se` of tables). Items
            count as independent here even where `unit` is `document`; the standard error by
            clusters of items is `clustered_stderr`.
        run_variance: That from the choice of runs.
    """

    count: int
    item_variance: float
    run_variance: float


@dataclass(frozen=True)
class ScoreReport:
    """A system's score for one metric, in the units of the reference program.

    Attributes:
        score: On the whole test set, in the units of the metric's reference program.
        ci: Lower and upper end of its bootstrap percentile interval; where `interval` is
            `bootstrap_t`, null on a side that has no bound, since at least alpha / 2 of the
            resamples do not vary at all (tables show `inf`). Wilson's where the metric has
            `shares`.
        stderr: Standard deviation over the bootstrap resamples: how far the score of another test
            set may lie.
        training_stderr: Only with training replicas: standard deviation over the replicas' scores,
            with m - 1: how far the score of another training run may lie.
        replicas: Only with training replicas: score of each.
        runs: Only where an item has several runs, whose mean is its score.
        clustered_stderr: Only where documents (clusters) are the unit and the score is a mean: the
            standard error by the formula that statsmodels and Inspect have, sqrt(G / (G - 1) · sum
            of squares of the G clusters' sums of residuals) / n (column `clustered se` of tables).
            `stderr` and `ci` come from the bootstrap, which lacks G / (G - 1): with 6 clusters
            `stderr` is 9 % smaller. Not where draws are stratified, or there are training replicas.
        counts: Of BLEU the precisions before smoothing (`precision_1` and so on, in percent),
            `brevity_penalty` and `length_ratio`, output over reference. Of error rates of speech:
            `substitutions`, `deletions`, `insertions` and `hits` of the alignment with the weights
            of NIST's scoring kit, `words` of the references (characters for `cer`), and `sclite`,
            the rate that these kinds add up to, where it is not that of the least edits, which
            `score` is. Means over training runs; not where scores are means over test sets.
        p_best: Only where three systems or more are compared with each other: p-value of the
            hypothesis that no other system has a better expected score (comparisons with the best,
            Hsu 1984). Those above `alpha` may be the best; the others are told from the best,
            whatever the correction: a true best is lost as seldom as alpha says where systems are
            of one kind, and in .08 instead of .05 where some have rare failures and others have not
            (VALIDITY.md). It comes from the bootstrap draws, whichever the tests are. Absent below
            30 units, for small strata and for units of very unequal weight.
        p_best_interval: 95 % Clopper-Pearson interval of `p_best` over other seeds; where it holds
            `alpha`, more resamples could turn round whether the system may be the best, and tables
            mark it `?`.
    """

    score: float
    ci: Ends
    stderr: float
    training_stderr: float | None = None
    replicas: tuple[float, ...] = ()
    runs: RunsReport | None = None
    clustered_stderr: float | None = None
    counts: Mapping[str, int | float] = field(default_factory=dict)
    p_best: float | None = None
    p_best_interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class FamilyReport:
    """What is corrected for where that is more than the systems present.

    Attributes:
        systems: How many there may be, present or not.
        comparisons: Size of each family: their pairs, for one metric and test.
        gone: By metric and test, the p-values of comparisons that stay in the family although a
            system of theirs has left; absent where none has.
    """

    systems: int
    comparisons: int
    gone: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)


@dataclass(frozen=True)
class RankReport:
    """Where a system stands for one metric and test.

    Attributes:
        cluster: 1 for the best; everyone in a cluster beats everyone in later ones.
        range: 1 + the number of systems significantly better, and the number of systems less those
            significantly worse.
        may_be_best: Whether no system is significantly better.
    """

    cluster: int
    range: tuple[int, int]
    may_be_best: bool


@dataclass(frozen=True)
class SystemReport:
    """One system.

    Attributes:
        name: As it was given.
        scores: By label of the metric.
        ranks: By label of the metric, and test; of comparisons of all pairs only.
    """

    name: str
    scores: Mapping[str, ScoreReport]
    ranks: Mapping[str, Mapping[str, RankReport]] = field(default_factory=dict)


@dataclass(frozen=True)
class CalibrationReport:
    """What makes a pair `calibrated` or not.

    Attributes:
        units: As many independent units of equal weight in one stratum tell as much as these; of
            `matched_pairs` stretches; to six decimals.
        skewness: Of the bootstrap distribution of the difference.
        evenness: Which share of the units that is, as they are of unequal weight (Kish); absent
            where it is 1.
        reason: Why it is not calibrated, by the code that a warning of this has: `few-units`,
            `unequal-units`, `small-strata`, `skewed`, `dependent-segments`, or `test` where no data
            would help; absent where it is.
    """

    units: float
    skewness: float
    evenness: float = 1.0
    reason: str | None = None


@dataclass(frozen=True)
class PairReport:
    """One pair of systems, one metric, one significance test; a report may have many thousands.

    Attributes:
        a: The first system, which comes before the other in the input. One-sided, all pairs stand
            in both orders, each order a claim of its own, so that no answer depends on the order of
            the input.
        b: The second system; the baseline where there is one.
        metric: Label of the metric.
        test: Name of the significance test.
        alternative: `two-sided`; `greater` (a is better); `less` (a is worse); `as printed` for
            `riezler_maxwell_bootstrap`, which knows no alternatives.
        score_a: Score of a on the whole test set.
        score_b: That of b.
        difference: `score_a - score_b`, also for error rates, where a negative difference favours
            a.
        ci: Bootstrap percentile interval of the difference, unshifted, and not adjusted for
            multiple comparisons; an end that has no bound is null. Where both scores have Wilson's,
            that of Bonett and Price (2012).
        stderr: Standard deviation of the difference over the resamples.
        count: Pseudo-statistics at least as extreme as the difference; null for an exact p-value
            from more than 40 differing units, and for tests that count none (`mcnemar`,
            `mcnemar_mid_p`, `paired_t`, `corrected_t`, `sign_test`, `signed_rank`,
            `matched_pairs`).
        resamples: Pseudo-statistics in all; null as above.
        p_value: (count + 1) / (resamples + 1), never 0; count / resamples where exact; the
            two-sided paired bootstrap doubles, up to 1.
        log10_p: Its decimal logarithm, which also says how small a p-value is that a double cannot
            hold.
        p_interval: 95 % Clopper-Pearson interval of the p-value over other seeds; where the
            bootstrap's centre is the mean of the draws, which is an estimate (all but means of
            units of equal weight), from the counts at both ends of the centre's own 95 % interval;
            both ends are the p-value where exact; null for tests that count none.
        p_adjusted: Corrected for all pairs of this metric and test.
        significant: Whether `p_adjusted` is at most `alpha`.
        undecided: Whether that decision differs between the ends of `p_interval`: more resamples
            could turn it round.
        resamples_needed: How many resamples would likely settle it; absent where nothing is
            undecided, and where it would take more than the 999,999 that can be asked for, as
            `verdict` then says.
        exact: Whether the p-value is a probability under the null hypothesis, neither estimated
            from draws nor approximated: every exchange of labels was counted, or the distribution
            is known.
        calibrated: Whether the test rejects a true null hypothesis of its own (`nulls`) as often as
            alpha says, with so many units and differences as skewed as these look (VALIDITY.md):
            bootstrap and paired_bootstrap from 300 units on, bootstrap_t from 50,
            matched_pairs from 50 stretches, and on skewed differences only bootstrap_t; units of
            unequal weight (documents by their segments, ratios by their
            denominators) count as those of equal weight that say as much (Kish),
            and bootstraps are not calibrated where that is less than .6 of them and fewer than 600;
            approximate_randomization and tests with a p-value of their own always, as their null
            hypotheses say more. Of strata, and of a mean over test sets, as many units are counted
            as those of one stratum that tell the variance as surely (Satterthwaite), and bootstrap
            and paired_bootstrap are not calibrated where strata are so small that resamples lack
            more than 5 % of it, nor where one that is asked for has fewer than 20. Segments whose
            documents are known, and are not the unit, are not independent: no test is calibrated.
        calibration: The figures that this follows from, and why it is false; absent in reports of
            older versions.
        detectable: Smallest true differences that this test set shows with 80 % power: at alpha,
            and at the level of the strictest step of the correction.
        verdict: Who is better, or what the test set could have shown, in one line of plain
            language; of an undecided pair, that it is undecided and whether more resamples would
            help.
        ahead: The system that the test finds ahead, where the scores do not say so: tests that look
            at units one by one (`sign_test`, `signed_rank`, `paired_t`, `corrected_t`), or at
            stretches (`matched_pairs`), may find the system with the lower score ahead, or one of
            two with the same; verdicts and ranks of two-sided tests follow it; absent otherwise.
        interval_agrees: Whether `ci` excludes 0 just where the pair is `significant`; for a
            one-sided claim, whether it lies on the side of the claim. They may differ: `ci` is
            two-sided, of one pair alone and from the bootstrap, the decision is corrected and the
            test's own. Absent where `ci` has no end, and in reports of older versions.
        stretches: Of `matched_pairs`: how many stretches of speech hold an error of either system.
        z: Of `matched_pairs`: the mean over stretches of errors of a less errors of b, over its
            standard error.
    """

    a: str
    b: str
    metric: str
    test: str
    alternative: str
    score_a: float
    score_b: float
    difference: float
    ci: Ends
    stderr: float
    count: int | None
    resamples: int | None
    p_value: float
    log10_p: float
    p_interval: tuple[float, float] | None
    p_adjusted: float
    significant: bool
    undecided: bool
    resamples_needed: int | None = field(default=None, kw_only=True)
    exact: bool
    calibrated: bool
    calibration: CalibrationReport | None = field(default=None, kw_only=True)
    detectable: tuple[float, float]
    verdict: str
    ahead: str | None = None
    interval_agrees: bool | None = field(default=None, kw_only=True)
    stretches: int | None = None
    z: float | None = None

    @property
    def claimed(self) -> str | None:
        """The system that is claimed to be better, where the test is one-sided."""
        return {"greater": self.a, "less": self.b}.get(self.alternative)

    def winner(self, higher_is_better: bool) -> str:
        """The system that is better if the pair is significant: by its claim, or by the test."""
        known = self.claimed or self.ahead
        if known is not None:
            return known
        return self.a if (self.difference > 0) == higher_is_better else self.b

    @property
    def varies(self) -> bool:
        """Whether the difference is not the same on every resample, but for rounding."""
        return self.stderr > 1e-9 * max(abs(self.score_a), abs(self.score_b))


# What the tests of a pair have in common stands near each other in JSON: halves what is compressed.
Pairs = Annotated[
    tuple[PairReport, ...],
    PlainSerializer(
        lambda pairs: together(pairs, ("metric", "a", "b")), return_type=tuple[PairReport, ...]
    ),
    AfterValidator(lambda pairs: together(pairs, ("metric", "test"))),
]


# The whole ------------------------

Power = Mapping[str, Mapping[str, float]]  # by metric, then test


@dataclass(frozen=True)
class TestSetReport:
    """What was measured against.

    Attributes:
        segments: Number of segments.
        references: Number of reference sets; 0 where only scores are compared.
        documents: Number of documents; absent where none are known.
        sha256: Hash of references, documents and labels.
    """

    __test__ = False  # pytest: not a test class

    segments: int
    references: int
    documents: int | None = field(default=None, kw_only=True)
    sha256: str


@dataclass(frozen=True)
class SmallTest:
    """An exact test whose units are the test sets.

    Attributes:
        p_value: Of the recipe's alternative.
        p_adjusted: Corrected within all pairs of this metric and test.
        significant: Whether p_adjusted is at most alpha.
    """

    p_value: float
    p_adjusted: float
    significant: bool


@dataclass(frozen=True)
class WinsReport:
    """One pair of systems and one metric over all test sets.

    Attributes:
        a: First system.
        b: Second system; the baseline where there is one.
        metric: Label of the metric.
        alternative: The claim.
        differences: score_a - score_b on each test set, not oriented.
        won: Test sets on which a is better.
        lost: On which b is.
        tied: On which neither is.
        rank_sum: Sum of the ranks of those that a wins, by size of the difference.
        sign_test: Over won and lost.
        signed_rank: Wilcoxon's, over the differences.
    """

    a: str
    b: str
    metric: str
    alternative: str
    differences: tuple[float, ...]
    won: int
    lost: int
    tied: int
    rank_sum: float
    sign_test: SmallTest
    signed_rank: SmallTest


@dataclass(frozen=True)
class NamedReport:
    """One test set of several.

    Attributes:
        name: Of the test set.
        report: Of that test set; p-values are corrected over all test sets and their whole.
    """

    name: str
    report: Report


@dataclass(frozen=True)
class Several:
    """What a report on several test sets has besides systems and pairs of all together.

    Attributes:
        average: `macro`: scores are means of the test sets' scores; `pooled`: scores are those of
            all segments as one test set, stratified by test set.
        comparisons: Size of each family: the pairs of one metric and test, of every test set and
            of all together.
        testsets: Each one's report, in input order.
        wins: By metric, then pair.
    """

    average: Literal["macro", "pooled"]
    comparisons: int
    testsets: tuple[NamedReport, ...]
    wins: tuple[WinsReport, ...]


@dataclass(frozen=True)
class Overall:
    """What several test sets say together.

    Attributes:
        average: `macro`: scores are means of the test sets' scores; `pooled`: scores are those of
            all segments as one test set, stratified by test set.
        systems: In input order.
        pairs: By metric, then test, then pair; in JSON by metric, then pair, then test.
        discriminative_power: As of a report on one test set.
        untestable: The same.
    """

    average: Literal["macro", "pooled"]
    systems: tuple[SystemReport, ...]
    pairs: Pairs
    discriminative_power: Power | None = None
    untestable: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ReportOnSeveral:
    """A finished comparison on several test sets, as JSON has it.

    Attributes:
        signature: The line that reproduces it.
        version: Of sigtest.
        alpha: Level of the decisions.
        correction: Correction for multiple comparisons.
        comparisons: Size of each family: the pairs of one metric and test, of every test set and
            of all together.
        testsets: Each one's report, in input order.
        overall: What they say together.
        wins: By metric, then pair.
        warnings: About all test sets together; each one's own are in its report.
        methods: How the numbers came about, for a paper.
    """

    signature: str
    version: str
    alpha: float
    correction: str
    comparisons: int
    testsets: tuple[NamedReport, ...]
    overall: Overall
    wins: tuple[WinsReport, ...]
    warnings: Warnings
    methods: Methods | None = None


@dataclass(frozen=True)
class Report:
    """A finished comparison: a function of input, recipe and version alone.

    On several test sets, systems and pairs are those of all together.

    Attributes:
        signature: One line that reproduces the report: options and version of every metric, tests,
            alternative, resamples, seed, alpha, correction, pairs, exactness, unit, strata and
            number of replicas where there are any, version of sigtest.
        version: Of sigtest.
        testset: What was measured against.
        alpha: Level of all decisions; intervals have level 1 - alpha.
        correction: Correction for multiple comparisons, per metric and test.
        experimentwise_error: 1 - (1 - alpha)^m for the m pairs of one metric and test: how likely
            at least one false claim would be without correction, were the pairs independent; where
            nothing is corrected, other formats say so in a sentence.
        comparisons: Size of a family, m: what each p-value is corrected for. One-sided, all
            pairs count twice, once for each claim.
        metrics: By label, in the order of the recipe. The label is the metric's name, or its full
            spelling (`bleu:tokenize=zh`) where the recipe asks for the same metric twice, or the
            label of supplied scores.
        systems: In input order.
        pairs: By metric, then pair, then test, each in input order.
        warnings: What the reader must not overlook: too few resamples or units, a test that is not
            calibrated, known documents that were not used, identical systems.
        methods: How the numbers came about, for a paper: `text`, sentences with citations, and
            `references`, what they cite, each with its `key`, how it is `cited` and its entry in
            `bibtex`; on several test sets, of all together.
        several: What several test sets add; nothing for one.
        family: Where more is corrected for than the systems present: `systems`, how many there may
            be, `comparisons`, their pairs of one metric and test, and by these `gone`, the p-values
            of comparisons with systems that have left, if any has; absent otherwise.
        interval_alpha: In a report that is decided anew, where intervals have level 1 - this;
            absent otherwise.
        rank_confidence: 1 - alpha where the correction controls the family-wise error under any
            dependence (holm, bonferroni, max_t): all rank ranges together hold the true ranks with
            that confidence; absent otherwise, where a pair is not `calibrated`, and where there is
            a `rank_doubt`.
        rank_doubt: Why rank ranges may miss ranks of expected scores, where a test has another null
            hypothesis (`approximate_randomization`, `sign_test`, `signed_rank`, `paired_t`,
            `corrected_t`) and there are fewer than 300 units or differences are skewed by more than
            .1; absent otherwise.
        interval: How intervals follow from the bootstrap, where that is `bootstrap_t`; absent for
            percentiles. These leave alpha / 2 out at each end, whereas two-sided p-values of the
            test `bootstrap_t` count resamples as far off on either side (VALIDITY.md).
        nulls: By test: its null hypothesis in words. *Exchangeable labels*: either system could
            have written either output. *Equal expected scores*: neither is better on average,
            whatever else differs. *Normal differences with mean zero* (`paired_t`, `corrected_t`):
            the same, and differences are normal.
        discriminative_power: Where there are several metrics: `LABEL.TEST`, the share of pairs that
            the metric finds significantly different under the test; on several test sets, that of
            all together is in `overall`.
        untestable: Tests that can find no difference, as exchanging so few units never gives a
            significant p-value after correction, and how many units could.
    """

    signature: str
    version: str
    testset: TestSetReport
    alpha: float
    correction: str
    experimentwise_error: float
    comparisons: int
    metrics: Mapping[str, MetricReport]
    systems: tuple[SystemReport, ...]
    pairs: Pairs
    warnings: Warnings
    methods: Methods | None = None
    several: Several | None = None
    family: FamilyReport | None = None
    rank_confidence: float | None = None
    rank_doubt: str | None = None
    interval_alpha: float | None = None
    interval: str = "percentile"
    nulls: Mapping[str, str] = field(default_factory=dict)
    discriminative_power: Power | None = None
    untestable: Mapping[str, int] = field(default_factory=dict)

    @property
    def interval_level(self) -> float:
        """Level of the intervals, 0 to 1."""
        return 1 - (self.alpha if self.interval_alpha is None else self.interval_alpha)

    @property
    def unit(self) -> str:
        """What was resampled: `segment` or `document`."""
        return "document" if "|unit:document|" in self.signature else "segment"

    @cached_property
    def tests(self) -> tuple[str, ...]:
        """Names of the significance tests, in the order of the recipe."""
        return tuple(dict.fromkeys(pair.test for pair in self.pairs))

    def pairs_of(self, metric: str, test: str | None) -> list[PairReport]:
        """The pairs of one metric and test."""
        return [pair for pair in self.pairs if (pair.metric, pair.test) == (metric, test)]

    def as_json(self) -> dict[str, Any]:
        """The report as JSON has it (`docs/SERVICE.md` describes every field)."""
        body: dict[str, Any] = encode(self if self.several is None else self._on_several())
        return body

    def _on_several(self) -> ReportOnSeveral:
        assert self.several is not None
        return ReportOnSeveral(
            signature=self.signature,
            version=self.version,
            alpha=self.alpha,
            correction=self.correction,
            comparisons=self.several.comparisons,
            testsets=self.several.testsets,
            overall=Overall(
                self.several.average,
                self.systems,
                self.pairs,
                self.discriminative_power,
                self.untestable,
            ),
            wins=self.several.wins,
            warnings=self.warnings,
            methods=self.methods,
        )

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Report:
        """The report that `as_json` wrote."""
        if "overall" not in body:
            return decode(cls, body)
        told = decode(ReportOnSeveral, body)
        first = told.testsets[0].report
        sizes = [entry.report.testset for entry in told.testsets]
        return replace(
            first,
            signature=told.signature,
            testset=TestSetReport(
                segments=sum(size.segments for size in sizes),
                references=first.testset.references,
                documents=_sum([size.documents for size in sizes]),
                sha256=joined([size.sha256 for size in sizes]),
            ),
            systems=told.overall.systems,
            pairs=told.overall.pairs,
            discriminative_power=told.overall.discriminative_power,
            untestable=told.overall.untestable,
            warnings=told.warnings,
            methods=told.methods,
            several=Several(told.overall.average, told.comparisons, told.testsets, told.wins),
        )


def joined(digests: Iterable[str]) -> str:
    """One content hash for several."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _sum(counts: Sequence[int | None]) -> int | None:
    """The sum of counts that are all known."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


# Leaderboards ------------------------

# what a leaderboard says besides its report
ENVELOPE = (
    "id", "name", "metric", "test", "comparison", "capacity", "submissions", "claims", "pending",
    "failed",
)  # fmt: skip


@dataclass(frozen=True)
class LeaderboardReport:
    """A report with what a leaderboard says besides.

    Attributes:
        envelope: What it says besides, by the names of `ENVELOPE`.
        report: Of one metric and test.
    """

    envelope: Mapping[str, Any]
    report: Report

    def as_json(self) -> dict[str, Any]:
        """Both, the envelope first."""
        return {**self.envelope, **self.report.as_json()}


# Parts of a report ------------------------

IN_COMPARISONS = (  # fields that hold names of systems and metrics
    "name", "a", "b", "ahead", "metric", "metrics", "scores", "ranks", "discriminative_power",
)  # fmt: skip


def select(
    report: Report,
    metric: str | None = None,
    test: str | None = None,
    system: str | Collection[str] | None = None,
) -> Report:
    """The systems and pairs that are asked for; all else, and every decision, stays as it is.

    Args:
        report: On one test set or on several.
        metric: Label of the only metric.
        test: Name of the only significance test.
        system: One system, with the pairs that it is part of; or several, with the pairs among
            them; all where none is named.

    Raises:
        RecipeError: A metric, test or system that the report does not have.
    """
    names = [own.name for own in report.systems]
    wanted = {system} if isinstance(system, str) else set(system or names)
    for name in sorted(wanted):
        choose(name, names, "system", "system")
    if metric is not None:
        choose(metric, report.metrics, "metric", "metric")
    if test is not None and report.pairs:
        choose(test, report.tests, "test", "significance test")
    whole = metric is None and test is None and len(wanted) == len(names)

    def of_metric(named: Mapping[str, T]) -> dict[str, T]:
        return {label: own for label, own in named.items() if metric in (None, label)}

    def stays(pair: PairReport | WinsReport) -> bool:
        both = wanted & {pair.a, pair.b}
        return metric in (None, pair.metric) and len(both) == min(2, len(wanted))

    def part(own: Report) -> Report:
        systems = (
            replace(
                system,
                scores=of_metric(system.scores),
                ranks={
                    label: {name: rank for name, rank in ranks.items() if test in (None, name)}
                    for label, ranks in of_metric(system.ranks).items()
                },
            )
            for system in own.systems
            if system.name in wanted
        )
        return replace(
            own,
            metrics=of_metric(own.metrics),
            systems=tuple(systems),
            pairs=tuple(pair for pair in own.pairs if test in (None, pair.test) and stays(pair)),
            discriminative_power=own.discriminative_power if whole else None,
        )

    several = report.several
    if several is not None:
        testsets = tuple(replace(own, report=part(own.report)) for own in several.testsets)
        wins = tuple(row for row in several.wins if stays(row))
        several = replace(several, testsets=testsets, wins=wins)
    return replace(part(report), several=several)


# Other names ------------------------


def renamed(report: Report, names: Mapping[str, str]) -> Report:
    """The report with other names for some of its metrics and systems; sentences stay as they are.

    Args:
        report: On one test set or on several.
        names: By the names that the report has; those of others change nothing.

    Raises:
        RecipeError: Two metrics or two systems of the same name.
    """
    known = {"systems": [own.name for own in report.systems], "metrics": [*report.metrics]}
    for what, labels in known.items():
        seen = [names.get(label, label) for label in labels]
        twice = next((name for i, name in enumerate(seen) if name in seen[:i]), None)
        if twice is not None and names:
            raise RecipeError(f"names calls two {what} {twice!r}.", field="names")
    made = renamed_in(report, IN_COMPARISONS, names)
    if made.several is None or report.several is None:
        return made
    testsets = tuple(
        replace(own, name=before.name)  # a test set may be called as a system is
        for own, before in zip(made.several.testsets, report.several.testsets, strict=True)
    )
    return replace(made, several=replace(made.several, testsets=testsets))


def names_in(report: object, where: Collection[str]) -> Iterator[str]:
    """The names that stand in some fields of a report of any kind, each as often as it does.

    Args:
        report: A dataclass, or what it is made of.
        where: Those fields: of dataclasses that hold a name, or several.
    """
    if is_dataclass(report):
        for part in fields(report):
            value = getattr(report, part.name)
            if part.name in where:
                yield from (value,) if isinstance(value, str) else value or ()
            else:
                yield from names_in(value, where)
    elif isinstance(report, tuple):
        for own in report:
            yield from names_in(own, where)


def renamed_in(report: T, where: Collection[str], names: Mapping[str, str]) -> T:
    """A report of any kind under other names; see `names_in`."""
    return report if not names else _changed(report, where, names)


def _changed(value: Any, where: Collection[str], names: Mapping[str, str]) -> Any:
    if isinstance(value, tuple):
        return tuple(_changed(own, where, names) for own in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    held = {}
    for part in fields(value):
        own = getattr(value, part.name)
        if part.name not in where:
            held[part.name] = _changed(own, where, names)
        elif isinstance(own, str):
            held[part.name] = names.get(own, own)
        elif isinstance(own, Mapping):
            held[part.name] = {names.get(name, name): entry for name, entry in own.items()}
        else:
            held[part.name] = own and tuple(names.get(name, name) for name in own)
    return replace(value, **held)
