"""What every significance test in the registry promises."""

import doctest
from typing import ClassVar

import numpy as np
import pytest

from sigtest.arrays import Array, Flags
from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare, distribute
from sigtest.metrics.scores import Scores
from sigtest.render.distribution import counted_tail, distribution_plot
from sigtest.significance import ALTERNATIVES, TESTS, Alternative, resampling_tests, units_tests
from sigtest.significance.base import Draws, ResamplingTest

COUNTING = resampling_tests().values()
DIRECT = units_tests().values()
OF_UNITS = [  # test_matched.py and test_designs.py have the others
    test for test in DIRECT if "paired" in test.designs and not test.by_word
]


def name(test: object) -> str:
    return getattr(test, "name", str(test))


def test_every_test_counts_or_has_a_p_of_its_own():
    assert set(TESTS) == set(resampling_tests()) | set(units_tests())
    assert {test.draws for test in COUNTING} == {"counts", "swaps", "studentised"}
    assert {test.draws for test in DIRECT} == {"none"}
    assert resampling_tests(["mcnemar", "bootstrap"]).keys() == {"bootstrap"}
    assert units_tests(["mcnemar", "bootstrap"]).keys() == {"mcnemar"}


@pytest.mark.parametrize("test", TESTS.values(), ids=name)
def test_every_test_has_theory_an_example_and_a_null_in_words(test):
    theory, _, example = (type(test).__doc__ or "").partition("Examples:")
    assert len(theory.split()) >= 40
    assert doctest.DocTestParser().get_examples(example)
    assert 1 < len(test.null.split()) < 10
    assert test.caution is None or test.caution.lower().startswith(test.words.lower())
    assert test.calibrated == (test.name != "riezler_maxwell_bootstrap")


def drawn(seed: int) -> tuple[Array, Array, Array]:
    """Observed differences, draws and slack, with ties and draws exactly at the limits."""
    rng = np.random.default_rng(seed)
    observed = np.round(rng.normal(size=6), 1)
    observed[0] = 0.0
    draws = np.round(rng.normal(observed[:, None] / 2, 1.0, (6, 501)), 1)
    draws[:, :4] = observed[:, None] * np.array([1.0, -1.0, 0.0, 1.0])
    draws[1] = 0.0
    draws[2, 4:9] = observed[2] * (1 + 1e-12)
    return observed, draws, np.full(6, 1e-9)


@pytest.mark.parametrize("test", COUNTING, ids=name)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("seed", range(5))
def test_count_is_the_number_of_extreme_draws(test, alternative, seed):
    observed, draws, tolerance = drawn(seed)
    null = test.null_draws(draws, alternative)
    extreme = test.extreme(observed, null, tolerance, alternative)
    assert extreme.shape == draws.shape
    found = test.count(observed, draws, tolerance, alternative)
    assert found.tolist() == extreme.sum(axis=1).tolist()
    plain = ResamplingTest.count(test, observed, draws, tolerance, alternative)
    assert plain.tolist() == found.tolist()


@pytest.mark.parametrize("test", COUNTING, ids=name)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("observed", [0.7, -0.7, 0.0])
def test_counting_begins_at_the_limits(test, alternative, observed):
    limits = sorted(set(test.limits(observed, alternative)))
    null = np.sort(np.random.default_rng(1).normal(size=400))
    tolerance = np.array([1e-9])
    flags = test.extreme(np.array([observed]), null[None], tolerance, alternative)[0]
    section = np.searchsorted(limits, null)
    for between in range(len(limits) + 1):
        assert len(set(flags[section == between].tolist())) <= 1
    at_limits = test.extreme(np.array([observed]), np.array([limits]), tolerance, alternative)
    assert at_limits.all()


@pytest.mark.parametrize("test", COUNTING, ids=name)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_turning_a_pair_round_turns_the_claim_round(test, alternative):
    turned: dict[Alternative, Alternative] = {"greater": "less", "less": "greater"}
    observed, draws, tolerance = drawn(7)
    found = test.count(observed, draws, tolerance, alternative)
    other = test.count(-observed, -draws, tolerance, turned.get(alternative, alternative))
    assert found.tolist() == other.tolist()


@pytest.mark.parametrize("test", COUNTING, ids=name)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_every_draw_of_identical_systems_counts(test, alternative):
    counts = test.count(np.zeros(1), np.zeros((1, 9)), np.zeros(1), alternative)
    assert counts.tolist() == [9]


@pytest.mark.parametrize("test", COUNTING, ids=name)
def test_rounding_within_the_slack_breaks_no_tie(test):
    limit = np.array([test.limits(2.0, "two-sided")[0]])
    for moved, reached in ((1e-10, True), (-1e-10, True)):
        flags = test.extreme(np.array([2.0]), limit[None] + moved, np.array([1e-9]), "two-sided")
        assert flags.all() == reached


@pytest.mark.parametrize("test", OF_UNITS, ids=name)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_own_p_of_identical_systems_is_one(test, alternative):
    rows = np.stack([np.tile([0.0, 1.0], 6), np.ones(12)], axis=1)
    found = test.p(Scores(), rows, rows, alternative)
    assert (found.p_value, found.log10_p) == (1.0, 0.0)
    assert (found.count, found.patterns) == (None, None)


@pytest.mark.parametrize("test", OF_UNITS, ids=name)
def test_own_p_follows_the_claim(test):
    rng = np.random.default_rng(5)
    right = rng.random((2, 60)) < np.array([[0.8], [0.6]])
    a, b = (np.stack([row, np.ones(60)], axis=1).astype(float) for row in right)
    both, greater, less = (test.p(Scores(), a, b, claim).p_value for claim in ALTERNATIVES)
    assert greater < 0.1 < less
    assert both == pytest.approx(2 * greater)
    error = Scores(higher=False)
    assert test.p(error, a, b, "less").p_value == pytest.approx(greater)
    assert test.p(Scores(), b, a, "less").p_value == pytest.approx(greater)


class Doubled(ResamplingTest):
    """A test added from outside: a difference counts where it is twice as large."""

    name: ClassVar[str] = "doubled"
    draws: ClassVar[Draws] = "counts"
    null: ClassVar[str] = "equal expected scores"

    def extreme(
        self, observed: Array, null: Array, tolerance: Array, alternative: Alternative
    ) -> Flags:
        return np.abs(null) >= 2 * (np.abs(observed) - tolerance)[:, None]

    def limits(self, observed: float, alternative: Alternative) -> tuple[float, ...]:
        return (2 * observed, -2 * observed)


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize(("a", "b"), [("X", "Y"), ("Y", "X")])
def test_report_and_picture_of_a_plugged_in_test_agree(monkeypatch, higher, a, b):
    monkeypatch.setitem(TESTS, "doubled", Doubled())
    values = np.random.default_rng(3).normal([[0.1], [0.0]], 1, (2, 60))
    comparison = parse_comparison(
        {
            "systems": [
                {"name": name, "scores": {"x": row.tolist()}}
                for name, row in zip("XY", values, strict=True)
            ],
            "metrics": [{"name": "scores", "of": "x", "higher": higher}],
            "tests": ["doubled"],
            "resamples": 999,
        }
    )
    report = compare(comparison)
    pair = report.pairs[0]
    assert 0 < pair.count < 999
    assert pair.p_value == (pair.count + 1) / 1000
    shown = distribute(comparison, a, b, "x", "doubled")
    assert np.count_nonzero(counted_tail(shown, pair, higher)) == pair.count
    assert f"{pair.count} of 999 counted" in distribution_plot(report, distribution=shown)
