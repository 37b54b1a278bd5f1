"""The significance tests and corrections by name; what has NumPy is loaded when it is used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from sigtest.errors import RecipeError
from sigtest.late import Registry

if TYPE_CHECKING:
    from sigtest.significance.base import ResamplingTest, SignificanceTest, UnitsTest
    from sigtest.significance.corrections import Correction

Alternative = Literal["two-sided", "greater", "less"]
Design = Literal["paired", "unpaired", "number"]  # on common items, own items, against a number
ALTERNATIVES: tuple[Alternative, ...] = ("two-sided", "greater", "less")

TESTS: Registry[SignificanceTest] = Registry(
    {
        "approximate_randomization": "sigtest.significance.resampling:ApproximateRandomization",
        "bootstrap": "sigtest.significance.resampling:Bootstrap",
        "bootstrap_t": "sigtest.significance.resampling:BootstrapT",
        "paired_bootstrap": "sigtest.significance.resampling:PairedBootstrap",
        "riezler_maxwell_bootstrap": "sigtest.significance.resampling:RiezlerMaxwellBootstrap",
        "mcnemar": "sigtest.significance.units:McNemar",
        "mcnemar_mid_p": "sigtest.significance.units:McNemarMidP",
        "paired_t": "sigtest.significance.units:PairedT",
        "corrected_t": "sigtest.significance.units:CorrectedT",
        "sign_test": "sigtest.significance.units:SignTest",
        "signed_rank": "sigtest.significance.units:SignedRank",
        "fisher": "sigtest.significance.units:Fisher",
        "binomial": "sigtest.significance.units:Binomial",
        "matched_pairs": "sigtest.significance.matched:MatchedPairs",
    },
    made=True,
)
JOINT = ("max_t", "tukey")  # corrections that count in the draws of one test
ALONE = (
    "holm",
    "bonferroni",
    "sidak",
    "hochberg",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "none",
)  # from p-values alone
CORRECTIONS: Registry[Correction] = Registry(
    {name: f"sigtest.significance.corrections:{name}" for name in (*ALONE, *JOINT)}
)


def resampling_tests(names: Iterable[str] | None = None) -> dict[str, ResamplingTest]:
    """Those of the named tests, or of all, that count in draws, by name."""
    from sigtest.significance.base import ResamplingTest

    tests = [TESTS[name] for name in (TESTS if names is None else names)]
    return {test.name: test for test in tests if isinstance(test, ResamplingTest)}


def swap_test(names: Iterable[str]) -> ResamplingTest | None:
    """The one of the named tests that counts in exchanges of outputs, if there is one.

    Raises:
        RecipeError: There are two, of which blocks would count one only.
    """
    found = [test for test in resampling_tests(names).values() if test.draws == "swaps"]
    if len(found) > 1:
        raise RecipeError(
            f"{found[0].name} and {found[1].name} both count in exchanges of outputs; a comparison "
            "has one such test.",
            field="tests",
        )
    return found[0] if found else None


def units_tests(names: Iterable[str] | None = None) -> dict[str, UnitsTest]:
    """Those of the named tests, or of all, that have a p-value of their own, by name."""
    from sigtest.significance.base import UnitsTest

    tests = [TESTS[name] for name in (TESTS if names is None else names)]
    return {test.name: test for test in tests if isinstance(test, UnitsTest)}
