"""Numbers printed in papers or computed by other programs, against sigtest's."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binom, chi2_contingency

from sigtest.arrays import Array
from sigtest.draws.product import DistinctColumns
from sigtest.draws.weights import bootstrap_counts
from sigtest.metrics import Metric
from sigtest.requests.recipe import parse_metric
from sigtest.significance import CORRECTIONS, Alternative, resampling_tests
from sigtest.significance.base import slack
from sigtest.significance.corrections import adjust, experimentwise_error
from sigtest.significance.exact import enumerate_swaps
from sigtest.significance.intervals import clopper_pearson
from validation.results import Check, Table, all_hold
from validation.settings import SEED, SMALL_CHANCE

# Riezler & Maxwell (2005), Table 2: NIST, systems 1:2 to 1:6.
TABLE_2 = {
    "approximate_randomization": (0.03, 0.025, 0.05, 0.079, 0.028),
    "bootstrap": (0.014, 0.013, 0.028, 0.039, 0.013),
}
# The same corrected by statsmodels 0.15.0, multipletests.
ADJUSTED = {
    "approximate_randomization": {
        "bonferroni": (0.15, 0.125, 0.25, 0.395, 0.14),
        "sidak": (0.1412659743, 0.118904306640625, 0.2262190625, 0.3373287166514, 0.1323764639304),
        "holm": (0.125,) * 5,
        "hochberg": (0.079,) * 5,
        "benjamini_hochberg": (0.05, 0.05, 0.0625, 0.079, 0.05),
        "benjamini_yekutieli": (
            0.1141666666667, 0.1141666666667, 0.1427083333333, 0.1803833333333, 0.1141666666667,
        ),
    },
    "bootstrap": {
        "bonferroni": (0.07, 0.065, 0.14, 0.195, 0.065),
        "sidak": (
            0.0680672484578, 0.0633318275663, 0.132376463930, 0.180371713019, 0.0633318275663,
        ),
        "holm": (0.065,) * 5,
        "hochberg": (0.039,) * 5,
        "benjamini_hochberg": (0.0233333333333, 0.0233333333333, 0.035, 0.039, 0.0233333333333),
        "benjamini_yekutieli": (
            0.0532777777778, 0.0532777777778, 0.0799166666667, 0.08905, 0.0532777777778,
        ),
    },
}  # fmt: skip

# Graham, Mathur & Baldwin (2014), Tables 1 and 2: correct conclusions, pairs, printed percentages.
PRINTED_INTERVALS = (
    (48, 66, 72.7, 60.4, 83.0),
    (50, 66, 75.8, 63.6, 85.5),
    (51, 66, 77.3, 65.3, 86.7),
    (52, 66, 78.8, 67.0, 87.9),
    (53, 66, 80.3, 68.7, 89.1),
    (54, 66, 81.8, 70.4, 90.2),
    (30, 55, 54.5, 40.6, 68.0),
    (31, 55, 56.4, 42.3, 69.7),
    (32, 55, 58.2, 44.1, 71.3),
    (33, 55, 60.0, 45.9, 73.0),
    (34, 55, 61.8, 47.7, 74.6),
)
# Correct conclusions of BLEU, NIST, METEOR, TER in the same tables; statistic and p by scipy.
CHI_SQUARE = (
    ("es-en at .05", (53, 54, 52, 52), 66, 0.2596798712331217, 0.967424211043876),
    ("en-es at .05", (34, 32, 31, 32), 55, 0.3560780304966351, 0.9491585239886827),
    ("es-en at .01", (51, 51, 53, 51), 66, 0.265148978908604, 0.966443965306232),
    ("es-en at .001", (48, 48, 53, 50), 66, 1.3674526478546578, 0.7131814274557744),
)
# Riezler & Maxwell (2005), section 4.4: level of a test, tests, printed experiment-wise error.
PRINTED_ERRORS = ((0.05, 105, 0.9954), (0.015, 5, 0.07))

# Small fixtures whose probabilities were found by full enumeration in rational arithmetic.
MEANS = (
    (0.62, 0.55, 0.71, 0.48, 0.66, 0.59, 0.73, 0.51),
    (0.58, 0.57, 0.60, 0.45, 0.61, 0.60, 0.65, 0.50),
)
TUPLES = (
    ((5, 7, 8), (3, 6, 5), (8, 9, 10), (4, 5, 7), (6, 8, 8), (2, 4, 6)),
    ((4, 7, 8), (3, 5, 5), (6, 9, 10), (4, 6, 7), (5, 8, 8), (3, 4, 6)),
)
SWAPS = {
    "means": {"two-sided": 16 / 256, "greater": 8 / 256},
    "F": {"two-sided": 26 / 64, "greater": 13 / 64},
}
RESAMPLED = {
    "means": {
        ("bootstrap", "two-sided"): 3345 / 262144,
        ("bootstrap", "greater"): 17835 / 2097152,
        ("paired_bootstrap", "greater"): 8925 / 2097152,
        ("riezler_maxwell_bootstrap", "two-sided"): 14251 / 2097152,
    },
    "F": {
        ("bootstrap", "two-sided"): 1831 / 11664,
        ("bootstrap", "greater"): 3133 / 46656,
        ("paired_bootstrap", "greater"): 13 / 108,
        ("riezler_maxwell_bootstrap", "two-sided"): 2045 / 46656,
    },
}  # fmt: skip
CENTRE = {"means": (0.03625, 0.036273560523986816), "F": (0.06770019751452197, 0.07454247201109873)}


def adjusted_p_values_are_published_ones() -> Check:
    """Corrections of the p-values that Riezler & Maxwell print."""
    problems = []
    cases = 0
    for test, p in TABLE_2.items():
        for correction, wanted in ADJUSTED[test].items():
            cases += 1
            if not np.allclose(adjust(np.array(p), correction), wanted, rtol=0, atol=1e-10):
                problems.append(f"{correction} of the {test} column")
    alone = {name for name, correction in CORRECTIONS.items() if not correction.joint}
    missing = alone - set(ADJUSTED["bootstrap"]) - {"none"}
    problems += [f"{correction}: no published values" for correction in sorted(missing)]
    return all_hold(
        "corrections equal statsmodels",
        "Adjusted p-values of Riezler & Maxwell (2005), Table 2, equal those of statsmodels 0.15 "
        "to 1e-10, for every correction that looks at p-values.",
        problems,
        cases,
    )


def intervals_are_printed_ones() -> Check:
    """Clopper-Pearson intervals of Graham et al. (2014), Tables 1 and 2."""
    problems = []
    for correct, pairs, *printed in PRINTED_INTERVALS:
        low, high = clopper_pearson(np.array([correct]), pairs, 0.95)
        ours = [100 * correct / pairs, 100 * float(low[0]), 100 * float(high[0])]
        if any(abs(a - b) > 0.05 + 1e-9 for a, b in zip(ours, printed, strict=True)):
            problems.append(f"{correct} of {pairs}: {ours}")
    return all_hold(
        "Clopper-Pearson intervals are the printed ones",
        "Every accuracy and interval printed in Tables 1 and 2 of Graham, Mathur & Baldwin (2014) "
        "follows from the printed counts, to the printed digit.",
        problems,
        len(PRINTED_INTERVALS),
    )


def chi_squares_are_known_ones() -> Check:
    """The chi-square test between metrics, on the printed counts."""
    problems = []
    for what, correct, pairs, statistic, p in CHI_SQUARE:
        found, found_p = metric_differences(correct, pairs)
        if not (
            math.isclose(found, statistic, rel_tol=1e-9) and math.isclose(found_p, p, rel_tol=1e-9)
        ):
            problems.append(f"{what}: {found}, p {found_p}")
        if found_p < 0.05:
            problems.append(f"{what}: significant, which the paper denies")
    return all_hold(
        "no metric is better in the printed counts",
        "Chi-square of the printed counts of BLEU, NIST, METEOR and TER has the known statistic "
        "and p (1e-9), and is not significant, as the paper says.",
        problems,
        len(CHI_SQUARE),
    )


def metric_differences(correct: tuple[int, ...], pairs: int) -> tuple[float, float]:
    """Chi-square statistic and p of several metrics' correct conclusions, without correction."""
    table = np.array([correct, [pairs - c for c in correct]])
    found = chi2_contingency(table, correction=False)
    return float(found.statistic), float(found.pvalue)


def errors_are_printed_ones() -> Check:
    """The experiment-wise error formula of Riezler & Maxwell (2005)."""
    problems = []
    for alpha, tests, printed in PRINTED_ERRORS:
        digits = len(str(printed)) - 2
        if round(experimentwise_error(alpha, tests), digits) != printed:
            problems.append(f"{tests} tests at {alpha}: {experimentwise_error(alpha, tests)}")
    return all_hold(
        "experiment-wise errors are the printed ones",
        "1 - (1 - alpha)^k gives the paper's .9954 (105 tests at .05) and .07 (5 at .015).",
        problems,
        len(PRINTED_ERRORS),
    )


def errors_table() -> Table:
    """The experiment-wise error at the sizes that matter."""
    rows = [
        (f"{alpha}", f"{k}", f"{experimentwise_error(alpha, k):.4f}", f"{printed:g}")
        for alpha, k, printed in PRINTED_ERRORS
    ]
    rows += [("0.05", f"{k}", f"{experimentwise_error(0.05, k):.4f}", "") for k in (5, 15, 55, 66)]
    return Table(
        "Experiment-wise error 1 - (1 - alpha)^k of k independent, uncorrected tests",
        ("alpha", "k", "error", "printed in 2005"),
        tuple(rows),
    )


def fixtures_have_their_probabilities(resamples: int = 20_000) -> Check:
    """Two worked fixtures: exact swaps, and bootstraps around their exact probabilities."""
    problems = []
    cases = 0
    for name, metric, a, b in _fixtures():
        for alternative, wanted in SWAPS[name].items():
            cases += 1
            exact = enumerate_swaps(metric, a, b, _alternative(alternative))
            if exact is None or exact.p_value != wanted:
                problems.append(f"{name} swaps {alternative}")
        draws, observed, tolerance = _resampled(metric, a, b, resamples)
        for (test, alternative), wanted in RESAMPLED[name].items():
            cases += 1
            counting = resampling_tests()[test]
            count = counting.count(observed, draws, tolerance, _alternative(alternative))[0]
            low, high = binom.interval(1 - SMALL_CHANCE, resamples, wanted)
            if not low <= count <= high:
                problems.append(f"{name} {test} {alternative}: {count / resamples}, not {wanted}")
        for values, wanted in zip((draws, np.abs(draws)), CENTRE[name], strict=True):
            cases += 1
            # 4.9 standard errors: 1e-6 two-sided
            if abs(values.mean() - wanted) > 4.9 * values.std() / math.sqrt(resamples):
                problems.append(f"{name}: centre {values.mean()}, not {wanted}")
    return all_hold(
        "fixtures have their probabilities",
        "Means of 8 scores and a corpus F of 6 tuples, whose probabilities are known as fractions "
        "from all 8^8 and 6^6 resamples: exact p equal, bootstrap counts within the central "
        f"1 - 1e-6 of the binomial ({resamples:,} resamples), centres within 4.9 standard errors.",
        problems,
        cases,
    )


def _alternative(name: str) -> Alternative:
    return "greater" if name == "greater" else "two-sided"


def _fixtures() -> list[tuple[str, Metric, Array, Array]]:
    means = [np.stack([np.array(row), np.ones(8)], axis=1) for row in MEANS]
    tuples = [np.array(rows, dtype=float) for rows in TUPLES]
    return [
        ("means", parse_metric("scores:of=mean"), means[0], means[1]),
        ("F", parse_metric("fscore:of=F"), tuples[0], tuples[1]),
    ]


def _resampled(metric: Metric, a: Array, b: Array, resamples: int) -> tuple[Array, Array, Array]:
    """(1, R) differences, (1,) observed difference and slack."""
    columns = DistinctColumns([np.stack([a, b])])
    scores = metric.score_columns(columns.sums(bootstrap_counts(SEED, 0, resamples, len(a)))[0])
    x, y = metric.score(np.stack([a.sum(axis=0), b.sum(axis=0)]))
    tolerance = slack(np.array([x]), np.array([y]))
    return (scores[0] - scores[1])[None], np.array([x - y]), tolerance
