"""Requests of metric evaluations, made up for tests."""

from typing import Any

import numpy as np

SYSTEMS = ("Aspen", "Birch", "Cedar", "Daisy", "Elder", "Fir")


def request(segments: int = 30, seed: int = 1, **choices: Any) -> dict[str, Any]:
    """Three metrics of falling quality, one of them an error rate, and people."""
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(len(SYSTEMS), segments)) + np.linspace(0, 0.8, len(SYSTEMS))[:, None]
    noise = rng.normal(size=(3, *human.shape))
    good, fair, error = human + 0.5 * noise[0], human + noise[1], -(human + 1.5 * noise[2])
    return {
        "human": {"scores": both(human)},
        "metrics": {
            "COMET": both(good),
            "BLEU": both(fair),
            "TER": {**both(error), "higher": False},
        },
        **choices,
    }


def both(scores: np.ndarray) -> dict[str, Any]:
    """Scores of systems and of segments, as a request has them."""
    return {
        "system": dict(zip(SYSTEMS, scores.mean(axis=1).tolist(), strict=True)),
        "segment": dict(zip(SYSTEMS, scores.tolist(), strict=True)),
    }


def table(part: dict[str, Any], level: str) -> np.ndarray:
    """Scores of one part of a request, systems in order."""
    rows = part.get("scores", part)[level]
    return np.array([rows[name] for name in SYSTEMS], dtype=float)
