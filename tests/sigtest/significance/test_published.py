"""Numbers printed in papers and books, all here: nothing needs data that a clone does not have."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from computed import report_of

from sigtest.significance.corrections import adjust
from sigtest.significance.intervals import clopper_pearson


def compared(texts: dict[str, str], references: list[str], metric: str) -> dict[str, float]:
    """Scores of one-segment systems."""
    body = {
        "references": [[line] for line in references],
        "systems": [{"name": name, "hypotheses": [line]} for name, line in texts.items()],
        "metrics": [metric],
        "resamples": 1,
    }
    systems = report_of(body)["systems"]
    return {
        system["name"]: score["score"] for system in systems for score in system["scores"].values()
    }


def of_pair(x: list[float], y: list[float], **choices: Any) -> dict[str, Any]:
    """What a test says of two systems' means."""
    systems = [{"name": "X", "scores": {"s": x}}, {"name": "Y", "scores": {"s": y}}]
    body = {"systems": systems, "metrics": ["scores"], "resamples": 9, **choices}
    pair: dict[str, Any] = report_of(body)["pairs"][0]
    return pair


def over_data_sets(x: list[float], y: list[float]) -> dict[str, Any]:
    """What the tests over data sets say of two systems with one score on each."""
    bodies = [
        {
            "name": f"set {i}",
            "systems": [
                {"name": "X", "scores": {"s": [own]}},
                {"name": "Y", "scores": {"s": [other]}},
            ],
        }
        for i, (own, other) in enumerate(zip(x, y, strict=True))
    ]
    (wins,) = report_of({"testsets": bodies, "metrics": ["scores"], "resamples": 1})["wins"]
    return wins


# Papineni, Roukos, Ward & Zhu (2002), "BLEU: a Method for Automatic Evaluation of Machine
# Translation", section 2, examples 1 and 2, without full stops. Modified unigram precisions: 17/18,
# 8/14 and 2/7; modified bigram precisions: 10/17 and 1/13.
GUIDE = [
    "It is a guide to action that ensures that the military will forever heed Party commands",
    "It is the guiding principle which guarantees the military forces always being under the "
    "command of the Party",
    "It is the practical guide for the army always to heed the directions of the party",
]
CANDIDATES = {
    "1": "It is a guide to action which ensures that the military always obeys the commands of the "
    "party",
    "2": "It is to insure the troops forever hearing the activity guidebook that party direct",
}
BREVITY = math.exp(1 - 16 / 14)  # the second has 14 words, the nearest reference 16


def test_papineni_2002_modified_unigram_precisions():
    found = compared(CANDIDATES, GUIDE, "bleu:max_ngram_order=1,tokenize=none,lowercase=true")
    assert found["1"] == pytest.approx(100 * 17 / 18, rel=1e-12)
    assert found["2"] == pytest.approx(100 * 8 / 14 * BREVITY, rel=1e-12)


def test_papineni_2002_modified_bigram_precisions():
    found = compared(CANDIDATES, GUIDE, "bleu:max_ngram_order=2,tokenize=none,lowercase=true")
    assert found["1"] == pytest.approx(100 * math.sqrt(17 / 18 * 10 / 17), rel=1e-12)
    assert found["2"] == pytest.approx(100 * math.sqrt(8 / 14 * 1 / 13) * BREVITY, rel=1e-12)


def test_papineni_2002_counts_are_clipped():
    references = ["The cat is on the mat", "There is a cat on the mat"]
    texts = {"the": "the the the the the the the", "cat": "the cat is on the mat"}
    found = compared(texts, references, "bleu:max_ngram_order=1,tokenize=none,lowercase=true")
    assert found["the"] == pytest.approx(100 * 2 / 7, rel=1e-12)


def test_snover_2006_example():
    """One shift, two substitutions and one insertion in 13 words, 31 %.

    Snover, Dorr, Schwartz, Micciulla & Makhoul (2006), "A Study of Translation Edit Rate with
    Targeted Human Annotation".
    """
    reference = "SAUDI ARABIA denied THIS WEEK information published in the AMERICAN new york times"
    texts = {
        "example": "THIS WEEK THE SAUDIS denied information published in the new york times",
        "same": reference,
    }
    assert compared(texts, [reference], "ter") == {
        "example": pytest.approx(100 * 4 / 13, rel=1e-12),
        "same": 0,
    }


# Darwin (1876), "The Effects of Cross and Self Fertilisation in the Vegetable Kingdom": heights of
# maize in eighths of an inch, 15 pairs; as in Fisher (1935), "The Design of Experiments".
CROSSED = [188, 96, 168, 176, 153, 172, 177, 163, 146, 173, 186, 168, 177, 184, 96]
SELFED = [139, 163, 160, 160, 147, 149, 149, 122, 132, 144, 130, 144, 102, 124, 144]


@pytest.mark.parametrize(
    ("alternative", "reached"), [("two-sided", 1726), ("greater", 863), ("less", 2**15 - 835)]
)
def test_fisher_1935_randomization_of_darwins_maize(alternative, reached):
    """Section 21: of the 32,768 sums 835 exceed the 314 observed and 28 equal it; 5.267 %."""
    pair = of_pair(CROSSED, SELFED, alternative=alternative)
    assert pair["exact"]
    assert 15 * pair["difference"] == pytest.approx(314, rel=1e-12)
    assert pair["p_value"] == reached / 2**15
    assert Fraction(pair["count"], pair["resamples"]) == Fraction(reached, 2**15)
    if alternative == "two-sided":
        assert round(100 * pair["p_value"], 3) == 5.267


# Demšar (2006), "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7, Table 2:
# area under the curve of C4.5 and of C4.5 with the parameter m tuned on 14 data sets.
C45 = [
    0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.0, 0.940, 0.619, 0.972, 0.957,
]  # fmt: skip
C45_M = [
    0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.0, 0.962, 0.666, 0.981, 0.978,
]  # fmt: skip


def test_demsar_2006_table_2():
    """The paper's R+ is 93 and R- is 12, with ranks 1 and 2 of the two ties shared by both sides.

    Here ties are left out, so that each of the other ranks is two less.
    """
    found = over_data_sets(C45_M, C45)
    assert (found["won"], found["lost"], found["tied"]) == (10, 2, 2)
    assert found["rank_sum"] == 93 - 1.5 - 2 * 10
    lost = 12 * 13 / 2 - found["rank_sum"]
    assert lost == 12 - 1.5 - 2 * 2
    assert lost <= WILCOXON_05[12]  # as the paper, which rejects the hypothesis at .05
    assert found["signed_rank"]["significant"]
    assert found["sign_test"]["p_value"] == 2 * (1 + 12 + 66) / 2**12


# Largest rank sums that are significant at .05, two-sided: University of York, Department of
# Mathematics, statistical tables, "Critical Values for T in the Wilcoxon Matched-Pairs Signed-Rank
# Test". Demšar (2006), section 3.1.3, quotes the one of 14 data sets.
WILCOXON_05 = {
    6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 11: 10, 12: 13, 13: 17, 14: 21, 15: 25, 16: 29, 17: 34, 18: 40,
    19: 46, 20: 52, 21: 58, 22: 65, 23: 73, 24: 81, 25: 89,
}  # fmt: skip


def ranks_lost(size: int, total: int) -> set[int]:
    """Different ranks up to `size` with this sum, the largest first."""
    lost = set()
    for rank in range(size, 0, -1):
        if rank <= total:
            lost.add(rank)
            total -= rank
    return lost


@pytest.mark.parametrize("size", WILCOXON_05)
def test_signed_rank_test_has_the_tabulated_critical_values(size):
    for total, significant in ((WILCOXON_05[size], True), (WILCOXON_05[size] + 1, False)):
        lost = ranks_lost(size, total)
        x = [float(-rank if rank in lost else rank) for rank in range(1, size + 1)]
        found = over_data_sets(x, [0.0] * size)
        assert found["rank_sum"] == size * (size + 1) / 2 - total
        assert found["signed_rank"]["significant"] == significant


# Successes, trials and the printed 95 % limits. Newcombe (1998), "Two-sided confidence intervals
# for the single proportion", Table I, method 5; Conover (1999), "Practical Nonparametric
# Statistics". validation/published.py has those of Graham, Mathur & Baldwin (2014).
CLOPPER_PEARSON = [
    (81, 263, 0.2527, 0.3676, 4),
    (15, 148, 0.0578, 0.1617, 4),
    (0, 20, 0.0, 0.1684, 4),
    (1, 29, 0.0009, 0.1776, 4),
    (5, 25, 0.068, 0.407, 3),
]


@pytest.mark.parametrize(("successes", "trials", "low", "high", "digits"), CLOPPER_PEARSON)
def test_clopper_pearson_intervals_are_the_printed_ones(successes, trials, low, high, digits):
    found = clopper_pearson(np.array([successes]), trials, 0.95)
    assert [round(float(end[0]), digits) for end in found] == [low, high]


# Derrac, García, Molina & Herrera (2011), "A practical tutorial on the use of nonparametric
# statistical tests", Swarm and Evolutionary Computation 1, Table 16: p-values and adjusted ones.
DERRAC = [0.000006, 0.000332, 0.009823, 0.014171, 0.083642, 0.141093, 0.518605, 0.660706]
DERRAC_ADJUSTED = {
    "bonferroni": [0.000050, 0.002656, 0.078586, 0.113371, 0.669139, 1, 1, 1],
    "holm": [0.000050, 0.002324, 0.058940, 0.070857, 0.334569, 0.423278, 1, 1],
    "hochberg": [0.000050, 0.002324, 0.058940, 0.070857, 0.334569, 0.423278, 0.660706, 0.660706],
}


@pytest.mark.parametrize("correction", DERRAC_ADJUSTED)
def test_derrac_2011_table_16(correction):
    found = adjust(np.array(DERRAC), correction)
    rounding = 8 * 5e-7 + 5e-7  # of a p-value, eight times, and of the result
    assert found == pytest.approx(DERRAC_ADJUSTED[correction], abs=rounding)


# Benjamini & Hochberg (1995), "Controlling the False Discovery Rate", JRSS B 57: p-values of 15
# comparisons of two treatments; Bonferroni's and Hochberg's procedures reject three at .05, theirs
# four.
THROMBOLYSIS = [
    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
    0.6528, 0.7590, 1.0000,
]  # fmt: skip


@pytest.mark.parametrize(
    ("correction", "rejected"),
    [("bonferroni", 3), ("hochberg", 3), ("benjamini_hochberg", 4), ("none", 9)],
)
def test_benjamini_hochberg_1995_example(correction, rejected):
    found = adjust(np.array(THROMBOLYSIS), correction) <= 0.05
    assert found.tolist() == [True] * rejected + [False] * (15 - rejected)
