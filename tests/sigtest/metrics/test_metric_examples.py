"""The example that says what a metric is, run."""

import doctest

from sigtest.metrics import base


def test_what_a_metric_is():
    theory, _, example = (base.Metric.__doc__ or "").partition("Examples:")
    assert len(theory.split()) >= 30
    assert doctest.DocTestParser().get_examples(example)
    assert doctest.testmod(base).failed == 0
