"""Requests of accuracy of tests, made up for tests."""

from itertools import combinations
from typing import Any

import numpy as np

SYSTEMS = ("Aspen", "Birch", "Cedar", "Daisy")
WORDS = (
    "the", "old", "road", "leads", "from", "a", "small", "harbour", "over", "three", "hills", "to",
    "the", "market", "town",
)  # fmt: skip


def lines(seed: int, kept: float = 1.0) -> list[str]:
    """Thirty sentences, of whose words some are lost."""
    rng = np.random.default_rng(99)
    own = np.random.default_rng(seed)
    sentences = [rng.choice(WORDS, 9) for _ in range(30)]
    return [
        " ".join(word if own.random() < kept else "mist" for word in words) for words in sentences
    ]


def comparison(**choices: Any) -> dict[str, Any]:
    return {
        "references": lines(0),
        "systems": {
            name: lines(i + 1, kept)
            for i, (name, kept) in enumerate(zip(SYSTEMS, (0.9, 0.75, 0.74, 0.5), strict=True))
        },
        "metrics": ["bleu", "chrf"],
        "tests": ["approximate_randomization", "bootstrap"],
        "resamples": 499,
        **choices,
    }


def people(p: float = 0.001) -> list[dict[str, Any]]:
    """The system named first is the better one, but for the two in the middle."""
    rows = []
    for a, b in combinations(SYSTEMS, 2):
        tied = {a, b} == {"Birch", "Cedar"}
        greater = 0.4 if tied else p
        rows.append({"a": a, "b": b, "p_greater": greater, "p_less": 1 - greater})
    return rows


def request(**choices: Any) -> dict[str, Any]:
    return {"human": {"pairs": people()}, "comparison": comparison(), **choices}
