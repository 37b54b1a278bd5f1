"""Can a caller tell from the clock whether another has measured a text? It must not.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.isolation docs/isolation.svg [TEXTS]

One caller has asked about half of the texts. Another asks about all of them, in random order, and
takes the time until each is accepted and until its report is there. What the clock tells is the
area under the curve (AUC): how often a text that the first caller has asked about takes less time
than a fresh one; 0.5 is nothing. As a control, the second caller asks about some of its own texts
again, with other seeds, whose statistics are cached for it: that must be seen.
"""

import os
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from scipy.stats import rankdata

from benchmarks.service import service
from validation import figures

TEXTS = 400
AGAIN = 4  # of so many texts one is asked about again
SEGMENTS, LENGTH, SYSTEMS = 100, 25, 3
WORDS = [f"w{i}" for i in range(2000)]
FIRST, SECOND = {"X-API-Key": "first-key"}, {"X-API-Key": "second-key"}
GRID = [i / 10 for i in range(11)]


def body_of(text: int, seed: int = 1) -> dict[str, Any]:
    """A comparison of made-up texts of which no two are alike, and all are of one size."""
    rng = random.Random(text)
    reference = [rng.choices(WORDS, k=LENGTH) for _ in range(SEGMENTS)]

    def output() -> list[str]:
        return [
            " ".join(word if rng.random() < 0.7 else rng.choice(WORDS) for word in line)
            for line in reference
        ]

    return {
        "references": [[" ".join(line) for line in reference]],
        "systems": [{"name": f"s{i}", "hypotheses": output()} for i in range(SYSTEMS)],
        "metrics": ["bleu", "chrf", "ter"],
        "resamples": 99,
        "seed": seed,
    }


def asked(client: httpx.Client, who: dict[str, str], body: dict[str, Any]) -> tuple[float, float]:
    """Seconds until a comparison is accepted, and until its report is there."""
    start = time.perf_counter()
    answer = client.post("/v1/comparisons", json=body, headers=who).raise_for_status()
    accepted = time.perf_counter() - start
    url = answer.headers["location"]
    state = client.get(url, headers={**who, "Prefer": "wait=60"}).json()
    assert state["status"] == "succeeded", state
    return accepted, time.perf_counter() - start


def auc(known: Sequence[float], fresh: Sequence[float]) -> float:
    """How often a known one takes less time than a fresh one; a tie counts half."""
    ranks = rankdata([*known, *fresh])[len(known) :]
    m, n = len(known), len(fresh)
    return float((ranks.sum() - n * (n + 1) / 2) / (m * n))


def curve(known: Sequence[float], fresh: Sequence[float]) -> list[tuple[float, float]]:
    """Share of known ones that are below the bound under which so many fresh ones are."""
    bounds = np.quantile(fresh, GRID)
    return [(x, float(np.mean(np.asarray(known) <= b))) for x, b in zip(GRID, bounds, strict=True)]


def measured(client: httpx.Client, texts: int) -> dict[str, tuple[list[float], list[float]]]:
    """Seconds for known and for fresh texts, by what was timed."""
    for text in range(texts):
        asked(client, FIRST, body_of(text))
    order = list(range(2 * texts))
    random.Random(1).shuffle(order)
    times = {text: asked(client, SECOND, body_of(text)) for text in order}
    own, new = range(0, 2 * texts, 2 * AGAIN), range(2 * texts, 2 * texts + texts // AGAIN)
    control = {
        text: asked(client, SECOND, body_of(text, seed=2))[1]
        for pair in zip(own, new, strict=True)
        for text in pair
    }

    def split(which: int) -> tuple[list[float], list[float]]:
        return tuple([times[t][which] for t in range(s, s + texts)] for s in (0, texts))  # type: ignore[return-value]

    return {
        "until accepted": split(0),
        "until finished": split(1),
        "control: own texts": ([control[t] for t in own], [control[t] for t in new]),
    }


def main() -> None:
    """Print the areas with their standard errors where nothing is told, and draw the curves."""
    path = Path(sys.argv[1])
    texts = int(sys.argv[2]) if len(sys.argv) > 2 else TEXTS
    os.environ["SIGTEST_API_KEYS"] = "first:first-key,second:second-key"
    with service(1) as (client, _):
        found = measured(client, texts)
    series = {}
    for name, (known, fresh) in found.items():
        area = auc(known, fresh)
        error = ((len(known) + len(fresh) + 1) / (12 * len(known) * len(fresh))) ** 0.5
        medians = f"{1000 * np.median(known):.1f} and {1000 * np.median(fresh):.1f} ms"
        print(f"{name}: AUC {area:.3f} (standard error {error:.3f}), medians {medians}")
        series[f"{name}, {area:.2f}"] = curve(known, fresh)
    svg = figures.lines(series, "share of fresh texts", "share of known texts", {})
    path.write_text(svg)


if __name__ == "__main__":
    main()
