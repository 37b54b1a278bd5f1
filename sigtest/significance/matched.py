"""The matched-pairs test of sentence segments, which NIST's scoring kit gives recognisers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sigtest.arrays import Array
from sigtest.errors import RecipeError
from sigtest.metrics.kernels.alignment import stretches
from sigtest.metrics.wer import Wer
from sigtest.significance import Alternative
from sigtest.significance.base import UnitP, UnitsTest, normal_log10_p

if TYPE_CHECKING:
    from sigtest.metrics import Metric


class MatchedPairs(UnitsTest):
    """Do two recognisers err equally often, stretch by stretch?

    An utterance is cut where both systems have two words right (or as many as the metric's `buffer`
    says), one after the other and nothing inserted before either of them; its ends bound stretches,
    too. A stretch without any error is none. Of n stretches with differences of errors d, the mean
    of d over its standard error, from the variance with n - 1, is taken to be normal. Stretches on
    which both err equally often count, with a difference of 0. Where all differences are alike
    there is no variance to hold them against: z is 0 and p 1, as in the kit.

    Gillick & Cox (1989), "Some Statistical Issues in the Comparison of Speech Recognition
    Algorithms"; sc_stats of SCTK 2.4 (`mtchprs.c`: `test_comp_sents`, `count_seg`, with two words;
    `statdist.c`: `calc_mean_var_std_dev_Zstat`). Insertions of the second system behind the last
    word count, as in the kit since 2007 (2.3-rc1). Case is as `wer` has it, while the kit ignores
    it without `-s`.

    Examples:
        Two utterances of five words; the first has two stretches, of one error by a each, the
        second one, with one error by each, so that d is 1, 1 and 0.

        >>> from sigtest.data.testset import System, TestSet
        >>> from sigtest.metrics.wer import Wer
        >>> wer, texts = Wer(), TestSet.of([["a b c d e", "a b c d e"]])
        >>> a, b = (
        ...     wer.words.statistics(texts, System.of("x", lines))
        ...     for lines in (["x b c d", "a x c d e"], ["a b c d e", "a b x d e"])
        ... )
        >>> found = MatchedPairs().p(wer, a, b, "two-sided")
        >>> found.stretches, round(found.statistic, 6), round(found.p_value, 6)
        (3, 2.0, 0.0455)
    """

    name = "matched_pairs"
    title = "the matched-pairs test of sentence segments"
    papers = ("gillick-cox-1989-statistical", "pallett-etal-1990-tools")
    null = "equal mean errors in stretches that are independent"
    least_units = 50  # stretches, see part 15 of VALIDITY.md
    by_word = True
    caution = (
        "The matched-pairs test of sentence segments takes stretches between words that both "
        "systems have right as independent, which those of one speaker may not be; randomization "
        "with speakers as clusters does not (give them as documents, unit cluster). Where "
        "every stretch differs by the same number, nothing varies: z is 0 and p 1, as in the kit."
    )

    def check(self, metric: Metric, rows: Array | None = None) -> None:
        if metric.words is None:
            raise RecipeError(
                f"{self.name} needs transcripts: it looks at which words of a reference are right, "
                f"and {metric.label} does not say. Take wer or cer with a reference and outputs "
                "as text; for counts of errors there is approximate_randomization.",
                field="tests",
            )

    def p(self, metric: Metric, a: Array, b: Array, alternative: Alternative) -> UnitP:
        assert isinstance(metric, Wer)
        differences = np.subtract(*stretches(a, b, metric.buffer).T)
        z = log10_p = 0.0
        if differences.size and np.ptp(differences):
            error = differences.std(ddof=1) / math.sqrt(len(differences))
            z = float(differences.mean() / error)
            log10_p = normal_log10_p(-z, alternative)
        return UnitP.of_log10(
            log10_p, exact=False, statistic=z, ahead=0.0 - z, stretches=len(differences)
        )
