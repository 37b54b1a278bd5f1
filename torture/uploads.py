"""Uploads such as are never written by hand: few bytes that ask for much, of every kind."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations
from typing import Any

VOCABULARIES = (
    ["a"],
    ["a", "b"],
    list("abcdefghij"),
    [f"w{i}" for i in range(300)],
    [chr(0x4E00 + i) for i in range(200)],
    ["!", "a.", "b,c", "'s"],
)
METRICS = ("bleu", "chrf", "chrf++", "ter", "nist", "bleu:tokenize=char", "ter:normalized=true",
           "bleu:tokenize=intl", "bleu:lowercase=true", "chrf:char_order=2")  # fmt: skip
TESTS = ("approximate_randomization", "bootstrap", "paired_bootstrap")
MOST_WORDS = (2_000, 2_000, 2_000, 60_000)
MOST_SYSTEMS = 60
CORRECTIONS = ("none", "holm", "hochberg", "benjamini_yekutieli")
JOINT = (("max_t", "bootstrap"), ("tukey", "approximate_randomization"))


def upload(seed: int) -> tuple[str, dict[str, Any]]:
    """Path of a kind and a request."""
    rng = random.Random(f"upload {seed}")
    (path,) = rng.choices(list(MAKERS), [8, 2, 1, 1, 1, 1])
    made = MAKERS[path](rng)
    return ("comparisons" if path == "suites" else path), made


def hostile(
    rng: random.Random, systems: int | None = None, segments: int | None = None
) -> dict[str, Any]:
    """A comparison: few words, very long lines, many near copies, scores on fine grids."""
    chosen = systems or rng.choice([2, 3, 5, 20, 60])
    size = segments or rng.choice([1, 2, 15, 19, 25, 100, 500])
    reference, outputs = _texts(rng, chosen, size)
    body: dict[str, Any] = {
        "references": [reference],
        "systems": [{"name": f"s{i}", "hypotheses": own} for i, own in enumerate(outputs)],
        "metrics": rng.sample(METRICS, rng.choice([1, 2, 3])),
        "tests": rng.sample(TESTS, rng.choice([1, 2, 3])),
        "correction": rng.choice(CORRECTIONS),
        "resamples": rng.choice([9, 99, 999, 9999] if chosen < MOST_SYSTEMS else [9, 99, 999]),
    }
    _vary(rng, body, len(reference))
    return body


def _texts(rng: random.Random, systems: int, segments: int) -> tuple[list[str], list[list[str]]]:
    words, most = rng.choice([1, 3, 25, 60, 200, 1000]), rng.choice(MOST_WORDS)
    while systems * segments * words > most and words > 1:
        words = max(1, words // 3)
    vocabulary = rng.choice(VOCABULARIES)
    between = rng.choice([" ", " ", " ", ""])

    def line() -> str:
        return between.join(rng.choices(vocabulary, k=rng.randint(1, words)))

    base = [line() for _ in range(segments)]

    def output() -> list[str]:
        if rng.random() < 0.5:
            return [line() for _ in base]
        near = list(base)
        for _ in range(min(segments, rng.randint(0, 20))):
            near[rng.randrange(segments)] = line()
        return near

    return [line() for _ in base], [output() for _ in range(systems)]


def _vary(rng: random.Random, body: dict[str, Any], segments: int) -> None:
    """Documents, strata, scores, joint corrections, studentised intervals."""
    whim = rng.random()
    if whim < 0.1:
        body["correction"], test = rng.choice(JOINT)
        body["tests"] = [test]
    elif whim < 0.2 and segments > 5:
        body |= {"documents": [f"d{i // 3}" for i in range(segments)], "unit": "document"}
    elif whim < 0.3:
        decimals = rng.choice([0, 2, 4, 6])
        for system in body["systems"]:
            system["scores"] = {"x": [round(rng.random(), decimals) for _ in range(segments)]}
        body["metrics"] = ["scores:of=x", *body["metrics"][:1]]
    elif whim < 0.35 and segments > 5:
        body |= {"tests": ["bootstrap"], "interval": "bootstrap_t"}
    elif whim < 0.4:
        body["exact"] = "never"
    elif whim < 0.45:
        body["pairs"] = {"baseline": "s0"}


def _suite(rng: random.Random) -> dict[str, Any]:
    one = hostile(rng, rng.choice([2, 5, 20]), rng.choice([6, 25, 100]))
    names = [system["name"] for system in one["systems"]]
    testsets = []
    for t in range(rng.randint(2, 4)):
        reference, outputs = _texts(rng, len(names), rng.choice([6, 25, 100]))
        systems = [{"name": n, "hypotheses": own} for n, own in zip(names, outputs, strict=True)]
        testsets.append({"name": f"t{t}", "references": [reference], "systems": systems})
    return {
        "testsets": testsets,
        "metrics": rng.sample(METRICS, 2),
        "tests": rng.sample(TESTS, 2),
        "resamples": rng.choice([99, 999]),
        "correction": rng.choice(CORRECTIONS),
    }


def _people(rng: random.Random) -> dict[str, Any]:
    systems, segments, people = (
        rng.choice([2, 5, 15, 60]),
        rng.choice([3, 20, 80]),
        rng.choice([2, 8]),
    )
    rows = [
        {"annotator": f"w{who}", "system": f"s{system}", "segment": segment,
         "score": rng.choice([0, 50, 100, rng.randrange(101)])}
        for who in range(people) for system in range(systems)
        for segment in range(1, segments + 1) if rng.random() < 0.7
    ]  # fmt: skip
    return {
        "judgements": rows,
        "test": rng.choice(["rank_sum", "signed_rank", "approximate_randomization"]),
        "resamples": rng.choice([99, 9999, 99_999]),
        "standardise": rng.choice(["annotator", "none"]),
    }


def _metrics(rng: random.Random) -> dict[str, Any]:
    names = [f"s{i}" for i in range(rng.choice([3, 4, 10, 17, 30]))]
    segments = rng.choice([5, 50, 200])

    def scores() -> dict[str, Any]:
        rows = {
            n: [round(rng.random(), rng.choice([0, 1, 6])) for _ in range(segments)] for n in names
        }
        return {"system": {n: sum(row) for n, row in rows.items()}, "segment": rows}

    return {
        "human": {"scores": scores()},
        "metrics": {f"m{i}": scores() for i in range(rng.choice([2, 6, 15, 40]))},
        "level": rng.choice(["system", "segment"]),
        "resamples": rng.choice([99, 999, 9999]),
    }


def _accuracy(rng: random.Random) -> dict[str, Any]:
    comparison = hostile(rng, rng.choice([3, 5, 12]))
    comparison.pop("pairs", None)
    comparison["correction"], comparison["tests"] = "none", comparison["tests"][:2]
    names = [system["name"] for system in comparison["systems"]]
    pairs = [{"a": a, "b": b, "p_greater": 0.01, "p_less": 0.99} for a, b in combinations(names, 2)]
    return {"human": {"pairs": pairs}, "comparison": comparison}


def _plan(rng: random.Random) -> dict[str, Any]:
    comparison = hostile(rng, rng.choice([2, 5, 20]), rng.choice([15, 25, 100, 500]))
    return {"comparison": comparison, "difference": 1.0}


MAKERS: dict[str, Callable[[random.Random], dict[str, Any]]] = {
    "comparisons": hostile,
    "suites": _suite,
    "human-evaluations": _people,
    "metric-evaluations": _metrics,
    "test-accuracy": _accuracy,
    "plans": _plan,
}
