"""Reports decided anew: what a comparison with that alpha and correction says, without draws."""

import re
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from written import report, reported_on_several

from sigtest.comparison.comparison import parse_comparison
from sigtest.decide.summary import decided
from sigtest.engine import compare
from sigtest.errors import RecipeError
from sigtest.report import Report, SystemReport

TESTS = ("approximate_randomization", "bootstrap")
FOUR = tuple(f"system-{i}" for i in range(4))
SETS = ("part-0", "part-1")
THREE = FOUR[:3]
OPEN = ("none", "bonferroni", "sidak", "hochberg", "benjamini_hochberg", "benjamini_yekutieli")
INTERVAL = re.compile(r" \[[^]]*]|Intervals are [0-9.]+ %")


def without_intervals(found: Report) -> Report:
    """All of a report that does not follow from the level of its intervals."""
    methods = found.methods
    several = found.several
    if several is not None:
        own = tuple(
            replace(entry, report=without_intervals(entry.report)) for entry in several.testsets
        )
        several = replace(several, testsets=own)
    return replace(
        found,
        signature=found.signature.partition("|alpha:")[0],
        interval_alpha=None,
        systems=tuple(map(without_interval, found.systems)),
        pairs=tuple(
            replace(pair, ci=(0, 0), verdict=INTERVAL.sub("", pair.verdict)) for pair in found.pairs
        ),
        methods=methods and replace(methods, text=INTERVAL.sub("", methods.text)),
        several=several,
    )


def without_interval(system: SystemReport) -> SystemReport:
    scores = {label: replace(own, ci=(0, 0)) for label, own in system.scores.items()}
    return replace(system, scores=scores)


def asked(**choices: object) -> Report:
    return report(FOUR, tests=TESTS, resamples=199, **choices)


@pytest.mark.parametrize("correction", OPEN)
def test_another_correction_decides_as_a_comparison_with_it(correction):
    anew = decided(asked(), correction=correction)
    own = asked(correction=correction)
    assert anew.interval_alpha is None
    assert replace(anew, signature="") == replace(own, signature="")


@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.01, 0.0004])
@pytest.mark.parametrize("choices", [
    {},
    {"alternative": "greater", "exact": "never"},
    {"pairs": {"baseline": "system-1"}},
    {"family": 9},
])  # fmt: skip
def test_another_alpha_decides_as_a_comparison_with_it(alpha, choices):
    anew = decided(asked(alpha=0.1, correction="none", **choices), alpha, "holm")
    own = asked(alpha=alpha, correction="holm", **choices)
    assert anew.interval_level == 0.9
    assert without_intervals(anew) == without_intervals(own)


def test_a_joint_correction_can_be_left_and_not_be_taken_up():
    joint = report(THREE, tests=["bootstrap"], correction="max_t", resamples=999)
    holm = report(THREE, tests=["bootstrap"], correction="holm", resamples=999)
    anew = decided(joint, correction="holm")
    assert replace(anew, signature="") == replace(holm, signature="")
    with pytest.raises(RecipeError, match="draws of all pairs"):
        decided(holm, correction="max_t")


def test_where_replicas_are_exchanged_units_do_not_limit_p_values():
    systems = [
        {"name": name, "replicas": [[f"{name} {i} {run}" for i in range(4)] for run in range(2)]}
        for name in "ab"
    ]
    body = {"references": [["a b c d"] * 4], "systems": systems, "metrics": ["chrf"]}
    one, other = (compare(parse_comparison({**body, "alpha": alpha})) for alpha in (0.2, 0.01))
    assert decided(one, 0.01).warnings == other.warnings


def test_several_test_sets_are_one_family():
    anew = decided(reported_on_several(THREE, SETS), 0.3, "bonferroni")
    own = reported_on_several(THREE, SETS, alpha=0.3, correction="bonferroni")
    assert without_intervals(anew) == without_intervals(own)


def test_won_test_sets_are_corrected_over_pairs_alone():
    """Six pairs on six test sets, which a family of seven would correct in another way."""
    asked = {"alternative": "less", "resamples": 9, "exact": "never"}
    sets = tuple(f"part-{i}" for i in range(6))
    anew = decided(reported_on_several(FOUR, sets, **asked), 0.2, "bonferroni")
    own = reported_on_several(FOUR, sets, alpha=0.2, correction="bonferroni", **asked)
    assert anew.several is not None
    assert own.several is not None
    assert anew.several.wins == own.several.wins
    adjusted = {row.sign_test.p_adjusted for row in anew.several.wins}
    assert 12 / 2**6 in adjusted  # six pairs, two claims each


@pytest.mark.parametrize("resamples", [9, 199, 9_999, 19_999])
def test_few_resamples_are_warned_of_under_the_correction_of_now(resamples):
    choices = {"tests": ["bootstrap"], "resamples": resamples, "exact": "never"}
    for correction in ("none", "bonferroni"):
        for old in ("none", "bonferroni"):
            anew = decided(report(FOUR, correction=old, **choices), correction=correction)
            assert anew.warnings == report(FOUR, correction=correction, **choices).warnings


def test_a_p_value_of_alpha_is_significant():
    own = asked(correction="none", exact="never")
    for level in {pair.p_value for pair in own.pairs if pair.p_value < 1}:
        there = {pair.p_value: pair.significant for pair in decided(own, level).pairs}
        assert there[level]
        assert there == {p: p <= level for p in there}


def test_nothing_else_is_the_same_report():
    whole = asked()
    assert decided(whole) is whole
    assert decided(whole, 0.05, "holm") is whole
    assert decided(decided(whole, 0.01), 0.2).signature == decided(whole, 0.2).signature


@pytest.mark.parametrize(("alpha", "correction"), [(0, None), (1.5, None), (None, "holms")])
def test_what_cannot_be_decided_is_refused(alpha, correction):
    with pytest.raises(RecipeError):
        decided(asked(), alpha, correction)


def of_few(choices: dict[str, Any], **decision: object) -> Report:
    """Three systems on few units, whose p-values can be small or cannot."""
    units = choices["units"]
    rows = {name: [i % 3 + 2.0 * s for i in range(units)] for s, name in enumerate("abc")}
    systems = [{"name": name, "scores": {"x": own}} for name, own in rows.items()]
    body = {key: own for key, own in choices.items() if key != "units"}
    asked = {"systems": systems, "metrics": ["scores"], "resamples": 99, **body, **decision}
    return compare(parse_comparison(asked))


@pytest.mark.parametrize("choices", [
    *({"units": units} for units in (1, 4, 5, 6, 7, 8, 11)),
    {"units": 6, "alternative": "greater"},
    {"units": 5, "alternative": "less", "tests": ["approximate_randomization", "sign_test"]},
    {"units": 5, "pairs": {"baseline": "b"}},
    {"units": 7, "family": 9},
    {"units": 6, "tests": ["bootstrap"]},
    {"units": 12, "unit": "document", "documents": [f"d{i // 2}" for i in range(12)]},
])  # fmt: skip
def test_every_sentence_is_decided_anew(choices):
    """Also that nothing can be found: 2 / 2^6 for the least p of six units, after correction."""
    decisions = list(product((0.2, 0.05, 0.01), ("none", "holm", "benjamini_hochberg")))
    own = {both: of_few(choices, alpha=both[0], correction=both[1]) for both in decisions}
    for first, second in product(decisions, repeat=2):
        anew = decided(own[first], *second)
        assert without_intervals(anew) == without_intervals(own[second]), (first, second)
    if choices == {"units": 6}:
        said = [
            " cannot find a difference here" in " ".join(map(str, own[d].warnings))
            for d in decisions
        ]
        assert said == [False, False, False, False, True, False, True, True, True]
