"""What reports say of the texts and scores of a comparison, besides its numbers.

Health checks of outputs, scores that are 0 or 1 for every item (proportions) or two counts, and
standard errors of means over items that come in clusters.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.data.health import Finding, check
from sigtest.data.names import is_error
from sigtest.data.testset import System, TestSet
from sigtest.metrics.bleu import Bleu
from sigtest.metrics.labels import Accuracy
from sigtest.metrics.scores import Scores
from sigtest.report import WarningReport, listed
from sigtest.requests.recipe import Recipe

SHORT = 100  # characters of a line with too few words for an n-gram, in any script
MANY = 20  # gold labels, of fewer than which one may well occur once
RATE = re.compile(r"(\b|_)[cw]er(\b|_)|(word|character)[ _]error", re.IGNORECASE)


def findings_of(
    testset: TestSet, systems: Sequence[System], recipe: Recipe
) -> tuple[WarningReport, ...]:
    """Look for what is wrong with outputs; of systems with replicas, at each of them.

    Args:
        testset: What outputs are held against.
        systems: Those without texts are passed over.
        recipe: Whose metrics cut words in some way.

    Returns:
        Warnings by system; none where there are no references or all is well.
    """
    if not all(metric.prose for metric in recipe.metrics):
        return _headings(testset)
    tokenizers = {name: m.tokenization for name, m in recipe.labelled if m.tokenization is not None}
    source = testset.source.lines if testset.source is not None else None
    references = [text.lines for text in testset.references]
    short = [
        WarningReport(
            "short",
            f"No segment of some output has a {metric.max_ngram_order}-gram, so that its {label} "
            "is 0; where segments are that short, take chrf or bleu:effective_order=true.",
            metrics=(label,),
        )
        for label, metric in recipe.labelled
        if isinstance(metric, Bleu) and not metric.effective_order
        if any(_lacks_ngrams(metric, testset, run) for own in systems for run in own.runs)
    ]
    found: list[Finding] = []
    runs: dict[str, str] = {}  # systems by the names of their outputs
    for r in range(max(len(system.runs) for system in systems)):
        texts = {}
        for system in systems:
            if r < len(system.runs) and (text := system.runs[r].hypotheses) is not None:
                one = len(system.runs) == 1
                name = system.name if one else f"{system.name}, replica {r + 1}"
                texts[name], runs[name] = text.lines, system.name
        found += check(references, source, texts, tokenizers if r == 0 else {})
    first = {system.sha256: system.name for system in reversed(systems)}
    copies = {system.name for system in systems} - {*first.values()}
    # reports say of themselves which systems are identical
    health = [
        WarningReport(f.kind.replace("_", "-"), f.sentence, (runs[f.system],) if f.system else ())
        for f in found
        if f.kind != "equals_system" or f.system not in copies
    ]
    return (*short, *health)


def _lacks_ngrams(metric: Bleu, testset: TestSet, run: System) -> bool:
    """Whether all segments of an output are too short for BLEU's longest n-gram."""
    lines = run.hypotheses.complete if run.hypotheses is not None else ()
    short = all(len(s) < SHORT and len(s.split()) < metric.max_ngram_order for s in lines)
    return short and not metric.statistics(testset, run)[:, -1].any()


def _headings(testset: TestSet) -> tuple[WarningReport, ...]:
    """The first gold label, where it is the only one that occurs once."""
    gold = testset.references[0].lines if testset.references else ()
    once = [label for label, count in Counter(gold).items() if count == 1]
    if len(gold) < MANY or once != [gold[0]] or gold[0] is None:
        return ()
    sentence = (
        f"The first gold label, {gold[0]!a:.60}, is the only one that occurs once: if it is the "
        "heading of a column, take that out of all files."
    )
    return (WarningReport("heading", sentence),)


def proportions_of(system: System, recipe: Recipe) -> list[str]:
    """Labels of the metrics that give every segment of a system 0 or 1; none over several runs."""
    if recipe.unit == "document" or len(system.runs) > 1:
        return []
    return [
        label
        for label, metric in recipe.labelled
        if isinstance(metric, Accuracy)
        or (
            isinstance(metric, Scores)
            and ((rows := metric.rows(system.runs[0])).shape[1] == 1 or recipe.unpaired)
            and np.isin(rows, (0, 1)).all()
        )
    ]


def exact_notes(proportions: Sequence[str], systems: int, recipe: Recipe) -> list[WarningReport]:
    """Warnings that say which test an exact p-value of proportions is.

    Args:
        proportions: Labels of the metrics that give 0 or 1.
        systems: How many there are.
        recipe: How they are compared.
    """
    if "approximate_randomization" not in recipe.tests or recipe.exact == "never" or systems < 2:
        return []
    return [
        WarningReport(
            "mcnemar",
            f"{label} is 0 or 1 for every item: an exact p-value of approximate randomization is "
            "that of McNemar's exact test.",
            metrics=(label,),
            tests=("approximate_randomization",),
        )
        for label, metric in recipe.labelled
        if label in proportions and isinstance(metric, Scores)
    ]


def error_rates(systems: Sequence[System], recipe: Recipe) -> Iterator[WarningReport]:
    """Warnings about scores that have the name of an error rate.

    They may be errors and words; and a mean of rates of utterances is not that of the test set.
    """
    for label, metric in recipe.labelled:
        if not isinstance(metric, Scores):
            continue
        tables = [metric.rows(run) for system in systems for run in system.runs]
        width = len(metric.columns)
        if is_error(label) and all(t.shape[1] == width and not (t % 1).any() for t in tables):
            yield WarningReport(
                "two-counts",
                f"{label}: every segment has two whole numbers, read as a score and its weight. If "
                "they are errors and words, the error rate is the ratio of their sums, where lower "
                f"is better: ratio:of={label},higher=false (in JSON, higher is false).",
                metrics=(label,),
            )
        elif RATE.search(label) and all(table.shape[1] == 1 for table in tables):
            yield WarningReport(
                "mean-of-rates",
                f"{label} has a rate for each utterance: their mean is not the rate of the test "
                "set, in which an utterance counts by its words. Give errors and words of each, "
                "two columns of these names, or the transcripts (metric wer or cer).",
                metrics=(label,),
            )


def constant_means(
    testset: TestSet, systems: Sequence[System], shares: Sequence[str], recipe: Recipe
) -> Iterator[WarningReport]:
    """Warnings about means of equal items without common ones, which vary all the same."""
    for label, metric in recipe.labelled:
        if recipe.design == "paired" or label in shares:
            continue
        tables = {own.name: metric.statistics(testset, own) for own in systems}
        tables.pop(str(recipe.bar), None)
        still = [
            name for name, rows in tables.items() if np.ptp(metric.score(rows[rows[:, 1] > 0])) == 0
        ]
        if still:
            yield WarningReport(
                "constant",
                f"{label} is the same for every item of {listed(still)}, so that p-values and "
                "intervals take it as certain; nothing says how much it varies over other items.",
                systems=tuple(still),
                metrics=(label,),
            )


def errors_of(
    testset: TestSet, system: System, recipe: Recipe, cluster: Counts
) -> dict[str, float]:
    """Standard errors of all means of a system, where clusters (documents) are the unit.

    Strata and several training runs have another variance; there are none for these.

    Args:
        testset: With the documents.
        system: One of those that are compared.
        recipe: How.
        cluster: (n,) number of each segment's cluster, from 0; two or more.

    Returns:
        Standard errors by the labels of metrics.
    """
    several = len(system.runs) > 1
    if recipe.unit != "document" or recipe.stratified or several or not cluster.any():
        return {}
    return {
        label: clustered_error(table[:, 0], table[:, 1], cluster)
        for label, metric in recipe.labelled
        if isinstance(metric, Accuracy | Scores)
        for table in [metric.statistics(testset, system.runs[0])]
        if table[:, 1].any()
    }


def clustered_error(values: Array, weights: Array, cluster: Counts) -> float:
    """Standard error of the mean of values that are alike within clusters (Liang and Zeger, 1986).

    The square root of G / (G - 1) times the sum over G clusters of the squared sums of residuals,
    over the sum of weights: of statsmodels the clustered covariance of a regression on a constant,
    of Inspect `stderr(cluster=...)`. Miller (2024), appendix A.

    Args:
        values: (n,) times their weights.
        weights: (n,) mostly ones.
        cluster: (n,) numbers of their clusters, from 0.
    """
    total = weights.sum()
    residuals = values - values.sum() / total * weights
    sums = np.bincount(cluster, residuals)
    return float(np.sqrt((sums**2).sum() * len(sums) / (len(sums) - 1)) / total)
