import unicodedata

import pytest
from written import hostile, rendered, report, with_pair

from sigtest.render.standings import decimals
from sigtest.render.words import fixed, probability, signed, width
from sigtest.report import ScoreReport


@pytest.mark.parametrize(
    ("p", "shown"),
    [
        (1.0, "1"),
        (0.5, "0.50"),
        (0.0684, "0.068"),
        (0.0001, "0.00010"),
        (9.2e-10, "9.2e-10"),
        (1.1e-300, "1.1e-300"),
        (1e-300, "<1e-300"),  # as small as p-values are kept
        (0.0, "<1e-300"),
    ],
)
def test_p_values_have_two_digits_and_are_never_zero(p, shown):
    assert probability(p) == shown


def test_rounding_never_carries_a_p_value_across_alpha():
    assert probability(0.0502, alpha=0.05) == "0.0502"
    assert probability(0.04996, alpha=0.05) == "0.050"
    assert probability(0.0009999, alpha=0.001) == "0.0010"
    assert probability(0.00100001, alpha=0.001) == "0.00100001"


def test_numbers_have_no_negative_zero():
    assert fixed(-0.001, 2) == signed(-0.001, 2) == "0.00"
    assert signed(0.5, 1) == "+0.5"
    assert signed(-0.5, 1) == "-0.5"


@pytest.mark.parametrize(
    ("score", "stderr", "places"), [(28.9, 0.38, 2), (0.81, 0.03, 4), (7.5, 0.04, 3), (0, 0, 4)]
)
def test_decimals_follow_the_scale(score, stderr, places):
    assert decimals([ScoreReport(score, (score, score), stderr)]) == places


def test_every_test_has_its_columns_and_an_uncalibrated_one_is_named():
    made = report(tests=("bootstrap", "riezler_maxwell_bootstrap"))
    shown = rendered("text", made)
    assert "riezler maxwell" in shown
    assert "(not calibrated)" in shown


@pytest.mark.parametrize(
    ("test", "claim"),
    [
        ("bootstrap", "claim: a is better than b"),
        ("bootstrap_t", "claim: a is better than b"),
        ("riezler_maxwell_bootstrap", "as printed"),
    ],
)
def test_the_claim_is_the_tests_own_also_where_units_are_too_few_for_it(test, claim):
    few = report(tests=[test], alternative="greater")
    assert not any(pair.calibrated for pair in few.pairs)
    assert f"; {claim}, holm over" in rendered("text", few).replace("\n  ", " ")


def test_undecided_pairs_say_how_many_resamples_would_settle_them():
    made = with_pair(report(), undecided=True, resamples_needed=40_000)
    assert "undecided, try 40,000 resamples" in rendered("text", made)


def test_many_pairs_are_counted_and_never_silently_dropped():
    made = report(tuple(f"S{i}" for i in range(10)))
    settled = sum(pair.significant and pair.metric == "bleu" for pair in made.pairs)
    assert settled
    assert f"Not listed: {settled} of 45 pairs" in rendered("text", made)
    assert "--every-pair" in rendered("text", made)
    every = rendered("text", made, every_pair=True)
    assert "Not listed" not in every
    assert sum(line.startswith("S") and " is better" in line for line in every.splitlines())


def test_systems_tables_stay_within_a_hundred_columns():
    metrics = ("bleu", "chrf", "chrf++", "ter")
    shown = rendered("text", report(metrics=metrics)).partition("Pairs")[0]
    assert max(map(width, shown.splitlines())) <= 100
    assert all(f"{metric}" in shown for metric in metrics)


def test_columns_stay_aligned_under_wide_and_combining_characters():
    made = report(("日本語", "e\u0301te\u0301", "plain"))
    rows = [line for line in rendered("text", made).splitlines() if " [" in line][:3]
    assert len({width(line.partition("[")[0]) for line in rows}) == 1


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html"])
def test_no_name_steers_a_terminal_or_turns_the_script_round(form):
    controls = {c for c in rendered(form, hostile()) if unicodedata.category(c)[0] == "C"}
    assert controls == {"\n"}
