"""Statistics straight from sacreBLEU: the oracle, and the path for options without a fast one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sigtest.arrays import Array
from sigtest.data.testset import TestSet
from sigtest.data.text import Text

if TYPE_CHECKING:
    from sigtest.metrics.sacre import SacreMetric


def sacrebleu_statistics(program: SacreMetric, testset: TestSet, hypotheses: Text) -> Array:
    """(n, k) statistics as sacreBLEU extracts them, segment by segment."""
    # Missing lines are allowed there, although the annotation does not say so.
    references = cast(Sequence[Sequence[str]], [text.lines for text in testset.references])
    rows: list[list[Any]] = program._extract_corpus_statistics(hypotheses.complete, references)
    return np.array(rows, dtype=np.float64)
