"""What a paper says of the answer to a question of any kind."""

import re

import pytest
from answered import REPORTS, evaluated, judged

from sigtest.kinds import KINDS
from sigtest.render.formats import FORMATS
from sigtest.report import Sources, decode, encode

SAID = {
    "human-evaluations": [
        "People judged 5 systems by adequacy and fluency in ",
        "(repeats differ less than degraded copies, Welch's test, p below 0.05) "
        "(Graham et al., 2013; Welch, 1947)",
        "the rank-sum test (Mann and Whitney, 1947) on scores of segments",
        "corrected by the method of Holm (Holm, 1979)",
        "Of adequacy and fluency the first that separates two systems decides "
        "(Graham et al., 2014)",
        "Agreement is kappa",
    ],
    "metric-evaluations": [
        "2 metrics were compared with people's scores of 4 systems at the level of systems.",
        "Pearson's r",
        "pairwise accuracy (Kocmi et al., 2021)",
        "the Williams test (Williams, 1959; Graham and Baldwin, 2014)",
    ],
    "test-accuracy": [
        "Conclusions of bootstrap (Efron and Tibshirani, 1993; Graham et al., 2014) and my own by",
        "on 3 pairs of 3 systems were compared with people's conclusions by adequacy, then fluency",
        "95 % Clopper-Pearson intervals (Clopper and Pearson, 1934)",
    ],
    "plans": [
        "From a pilot of 60 segments",
        "standard error of differences in scores",
        "the strictest of the method of Holm (Holm, 1979) for 3 comparisons, with 80 % power",
        "p reaches 0.0167",
    ],
    "sequential-comparisons": [
        "Differences in mean score of 3 systems were looked at after each of 90 items",
        "betting confidence sequences for scores from 0 to 1 (Waudby-Smith and Ramdas, 2024)",
        "Bonferroni-corrected for 3 pairs: at most 5 % of races have any false decision",
    ],
}


@pytest.mark.parametrize("path", REPORTS)
def test_what_must_be_known_is_said_in_every_format(path):
    kind, report = KINDS[path], REPORTS[path]()
    for words in SAID[path]:
        assert words in report.methods.text
    assert decode(type(report), encode(report)) == report
    presented = kind.present(report)
    for own in report.methods.references:
        assert own.cited in report.methods.text
        assert own.key in FORMATS["bibtex"].render(presented)
        assert own.key in FORMATS["latex"].render(presented)
    plain = re.sub(r"\s+", " ", FORMATS["text"].render(presented))
    assert report.methods.text in plain


def test_choices_change_what_is_said():
    assert "standardised" not in judged(standardise="none").methods.text
    assert "quality control" not in judged().methods.text
    signed = judged(test="signed_rank", aggregate="document").methods.text
    assert "the signed-rank test (Wilcoxon, 1945) on scores of documents" in signed
    assert "not corrected for multiple comparisons" in signed
    two_sided = evaluated(alternative="two-sided", statistics=["pearson"]).methods.text
    assert "two-sided" in two_sided
    assert "Kendall" not in two_sided


def test_two_papers_of_the_same_authors_and_year_are_told_apart():
    sources = Sources()
    first, second = "graham-etal-2014-randomized", "graham-etal-2014-better"
    assert sources.cite(first, second) == " (Graham et al., 2014; Graham et al., 2014b)"
    assert sources.cite(second) == " (Graham et al., 2014b)"
    assert sources.cite(first) == " (Graham et al., 2014)"
