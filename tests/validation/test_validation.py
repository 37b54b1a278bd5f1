"""The validation notices faults, and its limits are those that its page promises."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from validation import calibration, mutation, page, published
from validation.faults import FAULTS
from validation.page import Run
from validation.results import Check, Part, Table
from validation.settings import QUICK

CHECKS = {mutation.named(fault): fault.seen_by for fault in FAULTS}
LONG = {"blocks are irrelevant", "counts equal plain loops"}


@pytest.mark.parametrize(
    "name", [pytest.param(own, marks=pytest.mark.slow) if own in LONG else own for own in CHECKS]
)
def test_check_passes_on_the_real_library(name):
    check = CHECKS[name]()

    assert check.passed, check.result


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(FAULTS)), ids=[fault.name for fault in FAULTS])
def test_seeded_fault_is_noticed(number):
    assert mutation.verdict(number)


@pytest.mark.slow
def test_named_checks_pass_again_after_all_faults():
    for fault in FAULTS:
        with fault.seed():
            pass

    assert all(check().passed for check in CHECKS.values())


@pytest.mark.parametrize(
    ("alpha", "simulations", "limit"),
    [
        (0.05, 20_000, 0.0575),
        (0.01, 20_000, 0.0135),
        (0.001, 20_000, 0.00225),
        (0.05, 2_000, 0.0745),
        (0.01, 2_000, 0.022),
        (0.001, 2_000, 0.006),
    ],
)
def test_limits_are_the_published_binomial_quantiles(alpha, simulations, limit):
    assert calibration.limit(alpha, simulations) == pytest.approx(limit, abs=1.5 / simulations)


def test_printed_numbers_of_the_papers_are_reproduced():
    checks = (
        published.intervals_are_printed_ones(),
        published.chi_squares_are_known_ones(),
        published.errors_are_printed_ones(),
        published.adjusted_p_values_are_published_ones(),
        published.fixtures_have_their_probabilities(),
    )

    assert [check.name for check in checks if not check.passed] == []


def test_page_names_what_failed_and_answers_a_doubt_with_one_link():
    failed = Check("the sky is green", "It is green.", False, "blue")
    table = Table("What colour is it?", ("sky",), (("blue",),))
    part = Part(1, "Colours", "Which?", (failed,), tables=(table,), headline="Seen.")

    shown = page.render([part], Run(datetime(2026, 1, 1, tzinfo=UTC), 1.0, "abc", QUICK, "none"))

    assert "0 of 1 checks hold. Failed: the sky is green." in shown
    assert "| Which? | [1. Colours](#1-colours) | 0 of 1 |" in shown
    assert "### What colour is it?" in shown


def test_a_new_run_keeps_what_other_commands_wrote(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "PAGE", tmp_path / "VALIDITY.md")
    monkeypatch.setattr(page, "PICTURES", tmp_path / "validity")
    part = Part(1, "Colours", "Which?", (Check("grass", "It is green.", True, "green"),))
    run = Run(datetime(2026, 1, 1, tzinfo=UTC), 1.0, "abc", QUICK, "none")
    page.PAGE.write_text(f"old\n\n{page.APART}\n\n## 10. Apart\n")

    page.write([part], run)
    page.write([part], run)

    written = page.PAGE.read_text()
    assert written == page.render([part], run) + f"\n{page.APART}\n\n## 10. Apart\n"
