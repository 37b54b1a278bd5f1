"""Part 8: the study of Graham, Mathur & Baldwin (2014) on its own test set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from sigtest.arrays import Array, Counts
from sigtest.draws.distribution import distribution, pair_of
from sigtest.draws.sample import Sample
from sigtest.render.distribution import counted_tail
from sigtest.render.pictures import PICTURES
from sigtest.report import Report
from sigtest.significance import Alternative
from sigtest.significance.intervals import clopper_pearson
from validation import figures, human, published
from validation.fixtures import reduced
from validation.nulls import sample_of
from validation.populations import Population
from validation.results import Check, Figure, Part, Table, all_hold
from validation.settings import ALPHAS, SEED, Settings

STUDY_TESTS = ("paired_bootstrap", "bootstrap", "approximate_randomization")
STUDY_METRICS = ("bleu", "nist", "meteor", "ter")
LEGACY = "riezler_maxwell_bootstrap"
ENOUGH = 2_000  # segments from which the papers' finding of agreement is to be seen
ENOUGH_PAIRS = 60  # pairs of which a share of .95 says something
ALMOST_ALWAYS = 0.95
# p of the pairs shown in the paper's Figures 5 and 6, from its printed counts of 1,000
CLOSE, UNDECIDED = 0.0127, 0.268


@dataclass(frozen=True)
class Study:
    """All pairs of a population under all metrics and tests.

    Attributes:
        population: Systems and metrics.
        samples: What was resampled, by alternative.
        reports: The product's reports, by alternative.
    """

    population: Population
    samples: Mapping[Alternative, Sample]
    reports: Mapping[Alternative, Report]

    def one_sided(self, metric: str, test: str) -> Array:
        """(S, S) p of the claim that the row's system is better than the column's."""
        place = {name: s for s, name in enumerate(self.population.systems)}
        p = np.full((len(place), len(place)), np.nan)
        for alternative in ("greater", "less"):
            for pair in self.reports[_alternative(alternative)].pairs:
                if (pair.metric, pair.test) == (metric, test):
                    a, b = place[pair.a], place[pair.b]
                    row, column = (a, b) if alternative == "greater" else (b, a)
                    p[row, column] = pair.p_value
        return p


def _alternative(name: str) -> Alternative:
    return "greater" if name == "greater" else "less"


def conducted(population: Population, resamples: int) -> Study:
    """Resample all pairs once; both one-sided claims and the two-sided one on the same draws."""
    chosen = population.measured_by(STUDY_METRICS)
    samples: dict[Alternative, Sample] = {}
    reports: dict[Alternative, Report] = {}
    for alternative in ("two-sided", "greater", "less"):
        wanted: Alternative = alternative
        tests = (*STUDY_TESTS, LEGACY) if alternative == "two-sided" else STUDY_TESTS
        sample = sample_of(
            chosen, list(chosen.tables), SEED, resamples, tests=tests, alternative=wanted
        )
        samples[wanted] = sample
        reports[wanted] = reduced(sample, [sample.block(0, resamples)])
    return Study(chosen, samples, reports)


def conclusions(p: Array, alpha: float) -> Counts:
    """(P,) 1 where the first system of a pair is better at alpha, -1 the second, 0 neither."""
    first, second = np.triu_indices(len(p), 1)
    better = (p[first, second] <= alpha + 1e-12).astype(np.int64)
    worse = (p[second, first] <= alpha + 1e-12).astype(np.int64)
    return better - worse


def tests_agree(study: Study) -> tuple[Check, Table]:
    """The papers' finding: the three tests almost never conclude differently."""
    rows = []
    problems = []
    cases = 0
    for metric in study.population.labels:
        for one, two in combinations(STUDY_TESTS, 2):
            row = [metric, f"{one} and {two}"]
            for alpha in ALPHAS:
                decided = [conclusions(study.one_sided(metric, t), alpha) for t in (one, two)]
                same = int(np.sum(decided[0] == decided[1]))
                total = len(decided[0])
                row.append(f"{same} of {total}")
                cases += 1
                large = study.population.segments >= ENOUGH and total >= ENOUGH_PAIRS
                if large and same < ALMOST_ALWAYS * total:
                    problems.append(f"{metric}, {one}, {two} at {alpha}: {same} of {total}")
            rows.append(tuple(row))
    check = all_hold(
        "the three tests agree",
        "Any two of the three tests come to the same conclusion (better, worse, neither) for at "
        f"least {ALMOST_ALWAYS:.0%} of pairs, at every level: what is meant here by the papers' "
        f"'almost never different'. Judged from {ENOUGH:,} segments and {ENOUGH_PAIRS} pairs on, "
        "published below.",
        problems,
        cases,
    )
    table = Table(
        "Pairs with the same conclusion",
        ("metric", "tests", *(f"alpha = {alpha}" for alpha in ALPHAS)),
        tuple(rows),
    )
    return check, table


def pictures_count_what_reports_count(study: Study) -> tuple[Check, tuple[Figure, ...]]:
    """Figures 5 and 6: distributions of a close pair and of an undecided one."""
    drawn = []
    problems = []
    cases = 0
    labels = study.population.labels
    second = "meteor" if "meteor" in labels else labels[-1]
    for figure, metric, wanted in ((5, labels[0], CLOSE), (6, second, UNDECIDED)):
        a, b, alternative = _nearest(study, metric, wanted)
        report, sample = study.reports[alternative], study.samples[alternative]
        higher = report.metrics[metric].higher_is_better
        for test in STUDY_TESTS:
            plan, numbers = pair_of(sample.part, a, b, metric, test)
            table = sample.tables[labels.index(metric)][list(numbers)]
            found = distribution(plan, [table], metric)
            (pair,) = [
                p for p in report.pairs if (p.a, p.b, p.metric, p.test) == (a, b, metric, test)
            ]
            cases += 1
            shown = int(counted_tail(found, pair, higher).sum())
            if shown != pair.count:
                problems.append(f"figure {figure} {test}: {shown} drawn, {pair.count} reported")
            drawn.append(
                Figure(
                    f"figure{figure}-{test}",
                    PICTURES["distribution"].draw(report, {}, found),
                    f"As Figure {figure}: {a} and {b}, {metric}, {test}, {alternative}, "
                    f"p = {pair.p_value:.4f}.",
                )
            )
    check = all_hold(
        "pictures count what reports count",
        "The pseudo-statistics marked in the distributions of a close and of an undecided pair are "
        "as many as the report counts, for each of the three tests.",
        problems,
        cases,
    )
    return check, tuple(drawn)


def _nearest(study: Study, metric: str, wanted: float) -> tuple[str, str, Alternative]:
    """The pair whose one-sided randomization p is nearest to a printed one."""
    candidates = [
        (abs(np.log(pair.p_value / wanted)), pair.a, pair.b, alternative)
        for alternative in (_alternative("greater"), _alternative("less"))
        for pair in study.reports[alternative].pairs
        if (pair.metric, pair.test) == (metric, STUDY_TESTS[-1])
    ]
    _, a, b, alternative = min(candidates)
    return a, b, alternative


def accuracy_table(study: Study, gold: Array) -> Table:
    """As Tables 1 and 2: conclusions equal to the human ones at the same level."""
    rows = []
    for metric in study.population.labels:
        for test in STUDY_TESTS:
            row = [metric, test]
            for alpha in ALPHAS:
                correct, total = _correct(study, gold, metric, test, alpha)
                low, high = clopper_pearson(np.array([correct]), total, 0.95)
                share = 100 * correct / total
                row.append(f"{correct} ({share:.1f} [{100 * low[0]:.1f}, {100 * high[0]:.1f}])")
            rows.append(tuple(row))
    for test in STUDY_TESTS:
        row = ["chi-square between metrics", test]
        for alpha in ALPHAS:
            counts = [_correct(study, gold, m, test, alpha) for m in study.population.labels]
            _, p = published.metric_differences(tuple(c for c, _ in counts), counts[0][1])
            row.append(f"p = {p:.3f}")
        rows.append(tuple(row))
    return Table(
        "Accuracy of the tests against human conclusions (as Table 1 of the paper)",
        ("metric", "test", *(f"alpha = {alpha}" for alpha in ALPHAS)),
        tuple(rows),
        "Correct pairs (per cent [95 % Clopper-Pearson interval]). Human conclusions: exact "
        "one-sided sign tests on the untied comparisons in WMT12's five-way rankings, at the same "
        "alpha. The paper used direct assessments that were never released; its counts (48 to 54 "
        "of 66) are not reproduced and need not be. Pairs share systems and segments, so interval "
        "and chi-square treat as independent what is not: the paper's arithmetic, kept as such.",
    )


def _correct(study: Study, gold: Array, metric: str, test: str, alpha: float) -> tuple[int, int]:
    ours = conclusions(study.one_sided(metric, test), alpha)
    return int(np.sum(ours == conclusions(gold, alpha))), len(ours)


def part(study: Study, rankings: Path | None, settings: Settings) -> Part:
    """Checks, tables and pictures of the study.

    Args:
        study: All pairs.
        rankings: The human rankings, where there are any.
        settings: Of the run.
    """
    names = study.population.systems
    agreement, agreed = tests_agree(study)
    drawn, pictures = pictures_count_what_reports_count(study)
    tables = [agreed]
    sample = study.samples["two-sided"]
    order = np.argsort(-sample.metrics[0].sign * sample.scores[0], kind="stable")
    gold_text = "There are no human rankings for this test set."
    if rankings is not None:
        found = human.wins(rankings)
        order = np.argsort(-human.win_shares(found, names), kind="stable")
        tables.append(accuracy_table(study, human.sign_test_p(found, names)))
        gold_text = " ".join((human.__doc__ or "").split())
    panels = {
        f"{metric} {test}": study.one_sided(metric, test)[np.ix_(order, order)]
        for metric in study.population.labels
        for test in STUDY_TESTS
    }
    legend = "one-sided p: is the row's system better than the column's? Best system first."
    heat = figures.heatmaps(panels, len(STUDY_TESTS), [names[s] for s in order], legend)
    two_sided = study.reports["two-sided"]
    chosen = {"metric": study.population.labels[0], "test": STUDY_TESTS[-1]}
    matrix = PICTURES["matrix"].draw(two_sided, chosen)
    return Part(
        8,
        "The study of Graham, Mathur & Baldwin (2014)",
        "Do the three tests come to different conclusions on real systems? Are they right?",
        (
            agreement,
            drawn,
            published.intervals_are_printed_ones(),
            published.chi_squares_are_known_ones(),
        ),
        text=(
            f"All {len(two_sided.pairs) // (len(study.population.labels) * 4)} pairs of "
            f"{len(names)} systems of {study.population.name} ({study.population.segments:,} "
            f"segments), metrics {', '.join(study.population.labels)}, "
            f"{settings.study_resamples:,} resamples, one-sided in both directions.",
            gold_text,
        ),
        tables=tuple(tables),
        figures=(
            Figure("figure8", heat, "As Figure 8: one-sided p-values of all pairs."),
            Figure("matrix", matrix, "The same pairs as the product draws them: two-sided, Holm."),
            *pictures,
        ),
        headline=(
            "On the papers' own test set the three tests almost always conclude alike."
            if study.population.segments >= ENOUGH
            else "The papers' test set is not here: their study runs on the example."
        ),
    )
