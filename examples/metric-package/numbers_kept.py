"""A metric of a house: which share of the numbers in the reference an output has."""

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from sigtest.metrics.base import Fraction, Metric

NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True)
class NumbersKept(Metric):
    """Numbers of the first reference that the output has, in percent; 100 where there are none."""

    name = "numbers_kept"
    title = "the share of numbers kept"
    implementation = "numbers-kept 1.0"  # a cache forgets what another version measured
    width = 2  # numbers kept, and numbers to keep
    fraction = Fraction(numerator=0, denominator=1)
    local = True  # a segment's numbers need no other segment

    commas: bool = True  # an option: whether 1,000 is 1000

    def statistics(self, testset, system):
        pairs = zip(self.hypotheses(system).lines, testset.references[0].lines, strict=True)
        rows = []
        for output, reference in pairs:
            wanted = self._numbers(reference)
            rows.append([(wanted & self._numbers(output)).total(), wanted.total()])
        return np.array(rows, dtype=np.float64)

    def formula(self, sums):
        kept, wanted = sums
        return 100.0 * np.divide(kept, wanted, out=np.ones_like(kept), where=wanted > 0.0)

    def _numbers(self, line):
        found = NUMBER.findall(line or "")
        return Counter(own.replace(",", "") if self.commas else own for own in found)
