"""Questions of every kind, made up: each a function of its number."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

WORDS = tuple(f"{a}{b}" for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u", "ar", "en"))
ENDINGS = (" .", ".", "!", "", " ?")
METRICS = ("bleu", "chrf", "chrf++", "ter", "nist", "bleu:tokenize=char", "ter:normalized=true")
TESTS = ("approximate_randomization", "bootstrap", "paired_bootstrap")
CORRECTIONS = ("none", "holm", "bonferroni", "sidak", "hochberg", "benjamini_hochberg",
               "benjamini_yekutieli")  # fmt: skip
SHARES = {"comparisons": 50, "suites": 9, "human-evaluations": 9, "metric-evaluations": 9,
          "test-accuracy": 8, "plans": 8, "boards": 7}  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """A question.

    Attributes:
        number: Which one; everything else follows from it.
        path: Of its kind.
        body: Its request as JSON.
    """

    number: int
    path: str
    body: dict[str, Any]


@dataclass(frozen=True)
class AskedBoard:
    """A test set, and what is done to its leaderboard.

    Attributes:
        number: Which one.
        body: The request for the test set.
        steps: Names of systems with what they bring; nothing to delete the system.
    """

    number: int
    body: dict[str, Any]
    steps: tuple[tuple[str, dict[str, Any] | None], ...]

    @property
    def comparison(self) -> dict[str, Any]:
        """The request for the comparison that the leaderboard shows in the end."""
        systems: dict[str, dict[str, Any]] = {}
        for name, output in self.steps:
            systems.pop(name, None)
            if output is not None:
                systems[name] = output
        body = {k: v for k, v in self.body.items() if k not in {"name", "capacity"}}
        joint = body["correction"] in {"max_t", "tukey"}
        family = {} if joint else {"family": self.body["capacity"]}
        listed = [{"name": name, **systems[name]} for name in sorted(systems)]
        return {**body, "systems": listed, **family}


def asked(seed: int, number: int) -> Asked | AskedBoard:
    """The question with a number, of a run with a seed."""
    rng = random.Random(f"{seed} {number}")
    (what,) = rng.choices(list(SHARES), list(SHARES.values()))
    if what == "boards":
        return _board(rng, number)
    made = MAKERS[what](rng)
    return Asked(number, "comparisons" if what == "suites" else what, made)


def small(seed: int, number: int) -> Asked:
    """A comparison that takes no time."""
    rng = random.Random(f"small {seed} {number}")
    return Asked(number, "comparisons", _small(rng) | {"metrics": ["bleu"]})


def _sentence(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(3, 14))) + rng.choice(ENDINGS)


def _spoiled(rng: random.Random, line: str, error: float) -> str:
    return " ".join(w if rng.random() > error else rng.choice(WORDS) for w in line.split())


def _texts(rng: random.Random, most: int = 40, least: int = 6) -> tuple[list[str], list[list[str]]]:
    """References, and outputs of two to five systems of falling quality."""
    reference = [_sentence(rng) for _ in range(rng.randint(least, most))]
    systems = [
        [_spoiled(rng, line, 0.1 + 0.07 * s) for line in reference]
        for s in range(rng.randint(2, 5))
    ]
    return [f"{line} {i}" for i, line in enumerate(reference)], systems


def _documents(rng: random.Random, size: int) -> list[str]:
    """At least three documents, each some segments on end."""
    length = rng.randint(1, max(1, size // 3))
    return [f"d{i // length}" for i in range(size)]


def _recipe(rng: random.Random, joint: float = 0.15) -> dict[str, Any]:
    metrics = rng.sample(METRICS, rng.choice([1, 1, 2, 3]))
    tests = rng.sample(TESTS, rng.choice([1, 1, 2, 3]))
    recipe: dict[str, Any] = {
        "metrics": metrics,
        "tests": tests,
        "resamples": rng.choice([99, 99, 300, 499, 999, 1600]),
        "seed": rng.randrange(2**32),
        "correction": rng.choice(CORRECTIONS),
        "alpha": rng.choice([0.05, 0.01, 0.1]),
    }
    if rng.random() < joint:
        return recipe | _joint(rng)
    if rng.random() < 0.2:
        recipe["alternative"] = rng.choice(["greater", "less"])
    if rng.random() < 0.2:
        recipe["exact"] = "never"
    return recipe


def _joint(rng: random.Random) -> dict[str, Any]:
    """A correction that looks at all pairs together, and the test that it goes with."""
    correction, test = rng.choice([("max_t", "bootstrap"), ("tukey", "approximate_randomization")])
    return {"correction": correction, "tests": [test]}


def _comparison(rng: random.Random) -> dict[str, Any]:
    reference, outputs = _texts(rng)
    body = _recipe(rng)
    names = [f"s{i}" for i in range(len(outputs))]
    systems: list[dict[str, Any]] = [
        {"name": name, "hypotheses": own} for name, own in zip(names, outputs, strict=True)
    ]
    if rng.random() < 0.15:
        for system in systems:
            first = system.pop("hypotheses")
            system["replicas"] = [first, [_spoiled(rng, line, 0.1) for line in first]]
    elif rng.random() < 0.2:
        for system in systems:
            system["scores"] = {"gain": [rng.randrange(100) / 4 for _ in reference]}
        body["metrics"] = [*body["metrics"], "scores:of=gain"]
    if rng.random() < 0.3:
        body["documents"] = _documents(rng, len(reference))
        body["unit"] = rng.choice(["segment", "document"])
    joint = body["correction"] in {"max_t", "tukey"}
    if rng.random() < 0.15 and not joint:
        body["pairs"] = {"baseline": rng.choice(names)}
    return {"references": [reference], "systems": systems, **body}


def _suite(rng: random.Random) -> dict[str, Any]:
    body = _recipe(rng, joint=0.0)
    testsets = []
    for t in range(rng.randint(2, 3)):
        reference, outputs = _texts(rng, 25)
        systems = [{"name": f"s{i}", "hypotheses": outputs[i % len(outputs)]} for i in range(3)]
        systems[2]["hypotheses"] = [_spoiled(rng, line, 0.3) for line in reference]
        testsets.append({"name": f"t{t}", "references": [reference], "systems": systems})
    return {**body, "testsets": testsets}


def _people(rng: random.Random) -> dict[str, Any]:
    segments, systems = rng.randint(5, 20), rng.randint(2, 4)
    rows = [
        {
            "annotator": f"w{who}",
            "system": f"s{system}",
            "segment": segment,
            "score": round(min(100.0, max(0.0, rng.gauss(70 - 6 * system, 12)))),
        }
        for who in range(rng.randint(2, 4))
        for system in range(systems)
        for segment in range(1, segments + 1)
    ]
    return {"judgements": rows, "resamples": rng.choice([99, 500]), "seed": rng.randrange(2**32)}


def _metrics(rng: random.Random) -> dict[str, Any]:
    names = [f"s{i}" for i in range(rng.randint(4, 7))]
    truth = {name: rng.gauss(0, 1) for name in names}

    def scores(noise: float, sign: int = 1) -> dict[str, Any]:
        return {"system": {n: sign * (truth[n] + rng.gauss(0, noise)) for n in names}}

    metrics = {
        "COMET": scores(0.3),
        "BLEU": scores(0.8),
        "TER": {**scores(1.0, -1), "higher": False},
    }
    return {"human": {"scores": {"system": truth}}, "metrics": metrics,
            "resamples": rng.choice([99, 999]), "seed": rng.randrange(2**32)}  # fmt: skip


def _small(rng: random.Random) -> dict[str, Any]:
    """A comparison such as others contain."""
    reference, outputs = _texts(rng, 20, least=10)
    named = {f"s{i}": own for i, own in enumerate(outputs)}
    return {
        "references": reference,
        "systems": named,
        "metrics": rng.sample(METRICS[:4], 2),
        "tests": list(rng.sample(TESTS, 2)),
        "resamples": rng.choice([99, 299]),
        "seed": rng.randrange(2**32),
    }


def _accuracy(rng: random.Random) -> dict[str, Any]:
    comparison = _small(rng)
    while len(comparison["systems"]) < 3:
        comparison = _small(rng)
    pairs = []
    for a, b in combinations(comparison["systems"], 2):
        greater = rng.choice([0.001, 0.02, 0.2, 0.6])
        pairs.append({"a": a, "b": b, "p_greater": greater, "p_less": 1 - greater})
    return {"human": {"pairs": pairs}, "comparison": comparison}


def _plan(rng: random.Random) -> dict[str, Any]:
    return {"comparison": _small(rng), "difference": rng.choice([0.5, 1.5, 3.0])}


def _board(rng: random.Random, number: int) -> AskedBoard:
    """Systems come, leave and are replaced; nothing that left counts in a joint correction."""
    reference, outputs = _texts(rng, 40)
    body: dict[str, Any] = {
        "name": f"board {number}",
        "references": [reference],
        "metrics": rng.sample(METRICS[:4], rng.choice([1, 2])),
        "resamples": rng.choice([200, 600]),
        "seed": rng.randrange(2**32),
        "capacity": 12,
    }
    steps: list[tuple[str, dict[str, Any] | None]] = [
        (f"s{i}", {"hypotheses": own}) for i, own in enumerate(outputs)
    ]
    if rng.random() < 0.6:
        body |= _joint(rng)
        extra = [_spoiled(rng, line, 0.4) for line in reference]
        steps.insert(rng.randint(0, len(steps)), ("late", {"hypotheses": extra}))
        steps.append(("late", None if rng.random() < 0.5 else {"hypotheses": extra[::-1]}))
    else:
        body["correction"] = rng.choice(CORRECTIONS)
        body["tests"] = rng.sample(TESTS, 2)
    return AskedBoard(number, body, tuple(steps))


MAKERS: dict[str, Callable[[random.Random], dict[str, Any]]] = {
    "comparisons": _comparison,
    "suites": _suite,
    "human-evaluations": _people,
    "metric-evaluations": _metrics,
    "test-accuracy": _accuracy,
    "plans": _plan,
}
