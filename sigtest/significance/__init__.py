"""The significance tests by name."""

from sigtest.significance.base import ALTERNATIVES, Alternative, SignificanceTest
from sigtest.significance.bootstrap import Bootstrap, PairedBootstrap, RiezlerMaxwellBootstrap
from sigtest.significance.randomization import ApproximateRandomization

TESTS: dict[str, SignificanceTest] = {
    test.name: test
    for test in (
        ApproximateRandomization(),
        Bootstrap(),
        PairedBootstrap(),
        RiezlerMaxwellBootstrap(),
    )
}

__all__ = ["ALTERNATIVES", "TESTS", "Alternative", "SignificanceTest"]
