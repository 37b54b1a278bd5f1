"""What is cancelled frees its core and its child processes within a second or so."""

import pytest
from cancelled import are_computed, frees_its_core, long

from app.pages.forms import measurable


@pytest.mark.parametrize(
    ("metric", "words", "lines", "resamples"),
    [
        ("bleu", 20, 20_000, 999_999),
        pytest.param("ter", 400, 10_000, 99, marks=pytest.mark.slow),
        pytest.param("meteor", 250, 40, 99, marks=pytest.mark.slow),
    ],
)
def test_a_cancelled_question_frees_its_core(service, metric, words, lines, resamples):
    if metric not in measurable():
        pytest.skip(f"{metric} is not installed")
    frees_its_core(service, long(metric, words, lines, resamples=resamples))
    are_computed(service, long(metric, 3, 3, resamples=99))
