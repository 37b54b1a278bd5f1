"""What a paper says of the answer to a question of any kind."""

import re

import pytest
from answered import REPORTS, evaluated, judged

from sigtest.kinds import KINDS
from sigtest.render.formats import FORMATS
from sigtest.report import Sources, decode, encode

SAID = {  # of the others the words are recorded (tests/nets)
    "sequential-comparisons": [
        "Differences in mean score of 3 systems were looked at after each of 90 items",
        "betting confidence sequences for scores from 0 to 1 (Waudby-Smith and Ramdas, 2024)",
        "Bonferroni-corrected for 3 pairs: at most 5 % of races have any false decision",
    ]
}


@pytest.mark.parametrize("path", REPORTS)
def test_what_must_be_known_is_said_in_every_format(path):
    kind, report = KINDS[path], REPORTS[path]()
    for words in SAID.get(path, ()):
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
