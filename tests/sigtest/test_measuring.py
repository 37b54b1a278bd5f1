"""Large texts are measured in stretches, with the statistics that they have as a whole."""

import random

import numpy as np
import pytest

from sigtest import engine
from sigtest.comparison.comparison import Comparison, parse_comparison

SILENT = lambda *told: None  # noqa: E731


def comparison(segments: int, **brought: object) -> Comparison:
    rng = random.Random(1)
    words = [f"w{i}" for i in range(50)]

    def lines() -> list[str]:
        return [" ".join(rng.choices(words, k=rng.randrange(12))) for _ in range(segments)]

    gaps = [line if i % 5 else None for i, line in enumerate(lines())]
    return parse_comparison(
        {
            "references": [lines(), gaps],
            "systems": [{"name": n, "replicas": [lines(), lines()]} for n in "ab"],
            "metrics": ["bleu", "nist", "chrf++", "ter", "bleu:tokenize=intl,lowercase=true"],
            "resamples": 9,
            **brought,
        }
    )


@pytest.mark.parametrize("jobs", [1, 2])
def test_stretches_change_nothing(monkeypatch, jobs):
    asked = comparison(103)
    (entry,) = asked.entries
    monkeypatch.setattr(engine, "STRETCH", 10)
    (tables,) = engine.measure_all(asked, SILENT, jobs)
    for table, metric in zip(tables, asked.recipe.metrics, strict=True):
        for measured, system in zip(table, entry.systems, strict=True):
            assert np.array_equal(measured, engine.measure(entry.testset, system, metric))


def test_what_was_derived_from_a_stretch_is_forgotten(monkeypatch):
    asked = comparison(40, metrics=["bleu", "chrf", "ter"])
    monkeypatch.setattr(engine, "STRETCH", 10)
    engine.measure_all(asked, SILENT)
    (entry,) = asked.entries
    texts = [*entry.testset.references, *(text for s in entry.systems for text in s.replicas)]
    assert not any(text.derived for text in texts)
