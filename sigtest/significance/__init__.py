"""The significance tests by name."""

from collections.abc import Iterable

from sigtest.errors import RecipeError
from sigtest.significance.base import (
    ALTERNATIVES,
    Alternative,
    OwnP,
    OwnTest,
    ResamplingTest,
    SignificanceTest,
)
from sigtest.significance.bootstrap import (
    Bootstrap,
    BootstrapT,
    PairedBootstrap,
    RiezlerMaxwellBootstrap,
)
from sigtest.significance.contingency import McNemar, McNemarMidP
from sigtest.significance.paired import CorrectedT, PairedT
from sigtest.significance.randomization import ApproximateRandomization
from sigtest.significance.signs import SignedRank, SignTest

TESTS: dict[str, SignificanceTest] = {
    test.name: test
    for test in (
        ApproximateRandomization(),
        Bootstrap(),
        BootstrapT(),
        PairedBootstrap(),
        RiezlerMaxwellBootstrap(),
        McNemar(),
        McNemarMidP(),
        PairedT(),
        CorrectedT(),
        SignTest(),
        SignedRank(),
    )
}


def resampling_tests(names: Iterable[str] | None = None) -> dict[str, ResamplingTest]:
    """Those of the named tests, or of all, that count in draws, by name."""
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


def own_tests(names: Iterable[str] | None = None) -> dict[str, OwnTest]:
    """Those of the named tests, or of all, that have a p-value of their own, by name."""
    tests = [TESTS[name] for name in (TESTS if names is None else names)]
    return {test.name: test for test in tests if isinstance(test, OwnTest)}


__all__ = [
    "ALTERNATIVES",
    "TESTS",
    "Alternative",
    "OwnP",
    "OwnTest",
    "ResamplingTest",
    "SignificanceTest",
    "own_tests",
    "resampling_tests",
    "swap_test",
]
