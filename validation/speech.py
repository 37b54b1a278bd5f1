"""Tests of recognisers: `python -m validation.speech --keep FILE`.

Two recognisers that are exchangeable: what each does with a word depends on its speaker and on how
hard the word is, alike for both. How often do the matched-pairs test and randomization by speaker
reject at .05? Of the second kind, each recogniser has speakers of its own that it understands
badly, drawn alike for both: recognisers are still exchangeable, but stretches of one speaker are
not independent any more, as the matched-pairs test takes them to be. A third kind is the first with
about as few stretches as the matched-pairs test is called calibrated with.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from sigtest.arrays import Array
from sigtest.data.testset import System, TestSet
from sigtest.draws.product import fixed_point
from sigtest.metrics.wer import Wer
from sigtest.significance import ALTERNATIVES
from sigtest.significance.matched import MatchedPairs
from validation import kept
from validation.beside import drawn, sample_beside
from validation.calibration import limit
from validation.kept import Found, Task
from validation.settings import SEED

LEVEL = 0.05
MOST = 0.058  # of true null hypotheses rejected at .05, of exchangeable recognisers
RESAMPLES = 999
LENGTH = 50  # simulations a run
SPEECH = 31  # part of every seed
UTTERANCES, WORDS = 6, 12
KINDS = {  # speakers, and how far rates of a recogniser differ by speaker
    "alike for all speakers": (40, 0.0),
    "speakers of their own": (40, 0.5),
    "alike, few stretches": (7, 0.0),
}
KNOWN_TO_FAIL = "speakers of their own"
TESTS = ("matched_pairs", "approximate_randomization")


def transcripts(
    rng: np.random.Generator, speakers: int, apart: float
) -> tuple[list[str], list[list[str]]]:
    """What was said, utterance by utterance, and what each of two recognisers made of it."""
    shape = (speakers, UTTERANCES, WORDS)
    said = rng.integers(500, size=shape)
    lengths = rng.integers(3, WORDS + 1, size=shape[:2]).ravel()
    rate = 0.08 * np.exp(0.5 * rng.normal(size=(speakers, 1, 1)))
    rate = rate * np.where(rng.random(shape) < 0.2, 4, 1)  # hard words
    heard = []
    for _ in range(2):
        own = np.minimum(0.8, rate * np.exp(apart * rng.normal(size=(speakers, 1, 1))))
        chance = rng.random(shape)
        words = np.where(chance < own, rng.integers(500, 600, size=shape), said)
        words = np.where(chance < own / 3, -1, words)  # a third of errors are deletions
        inserted = np.where(rng.random(shape) < own / 4, rng.integers(600, 700, size=shape), -1)
        both = np.stack([words, inserted], axis=-1).reshape(-1, 2 * WORDS)
        rows = zip(both.tolist(), lengths.tolist(), strict=True)
        heard.append([" ".join(str(w) for w in row[: 2 * n] if w >= 0) for row, n in rows])
    spoken = zip(said.reshape(-1, WORDS).tolist(), lengths.tolist(), strict=True)
    return [" ".join(map(str, row[:n])) for row, n in spoken], heard


def simulated(task: Task) -> Found:
    """Rejections of each test, `two-sided`, `greater`, `less`, of LENGTH pairs; and stretches."""
    kind, run = str(task[0]), int(task[1])
    rng = np.random.default_rng((SEED, SPEECH, [*KINDS].index(kind), run))
    metric, test, (speakers, apart) = Wer(), MatchedPairs(), KINDS[kind]
    rows: list[Array] = []
    found, stretches = np.zeros((len(ALTERNATIVES), LENGTH)), 0
    for i in range(LENGTH):
        spoken, heard = transcripts(rng, speakers, apart)
        texts = TestSet.of([spoken])
        systems = [System.of(name, lines) for name, lines in zip("ab", heard, strict=True)]
        tables = [metric.statistics(texts, system) for system in systems]
        rows += [table.reshape(speakers, UTTERANCES, -1).sum(axis=1) for table in tables]
        a, b = (metric.words.statistics(texts, system) for system in systems)
        own = [test.p(metric, a, b, alternative) for alternative in ALTERNATIVES]
        found[:, i] = [known.p_value for known in own]
        stretches += own[0].stretches or 0
    sample = sample_beside(
        [metric],
        [np.stack([fixed_point(row) for row in rows])],
        tuple((2 * i, 2 * i + 1) for i in range(LENGTH)),
        resamples=RESAMPLES,
        seed=int(rng.integers(2**63)),
    )
    (seen,) = drawn(sample)
    swapped = seen.p_values("approximate_randomization")
    counted = {
        name: (p <= LEVEL + 1e-12).sum(axis=1).tolist()
        for name, p in zip(TESTS, (found, swapped), strict=True)
    }
    return {**counted, "stretches": [stretches]}


def rates(runs: list[Found], name: str) -> list[float]:
    """Shares of true null hypotheses that a test rejects."""
    total = np.sum([run[name] for run in runs], axis=0)
    return (total / (LENGTH * len(runs))).tolist()


def by_kind(found: dict[Task, Found]) -> dict[str, list[Found]]:
    """Runs of each kind of recognisers."""
    together: dict[str, list[Found]] = defaultdict(list)
    for (kind, _), run in sorted(found.items()):
        together[str(kind)].append(run)
    return together


def told(found: dict[Task, Found]) -> str:
    """Rates by kind of recognisers and test; those above the bound stand out."""
    together = by_kind(found)
    rows = []
    for kind, runs in together.items():
        for name in TESTS:
            shown = [f"**{r:.4f}**" if r > MOST else f"{r:.4f}" for r in rates(runs, name)]
            stretches = f"{rates(runs, 'stretches')[0]:.0f}" if name == TESTS[0] else "-"
            rows.append([kind, name, f"{LENGTH * len(runs):,}", stretches, *shown])
    head = ("recognisers err", "test", "simulations", "stretches", *ALTERNATIVES)
    bound = limit(LEVEL, min(len(runs) for runs in together.values()) * LENGTH)
    chance = f"by chance a test of level .05 stays below {bound:.4f}"
    return f"{kept.table(head, rows)}\n\nBound: {MOST}; {chance}."


def main() -> None:
    """Make the runs that are missing, and print what all of them say; 1 above the bound.

    Of fewer simulations than about 15,000 chance alone makes rates above the bound: those end with
    1 where they are above what chance makes of .05, too.
    """
    options = kept.arguments("speech", __doc__, 20_000)
    tasks: list[Task] = [
        (kind, run) for run in range(-(-options.simulations // LENGTH)) for kind in KINDS
    ]
    found = kept.resumed(options.keep, tasks, simulated)
    block = told(found)
    print(block)
    if options.write:
        kept.write("speech", block)
    alike = [runs for kind, runs in by_kind(found).items() if kind != KNOWN_TO_FAIL]
    most = max(rate for runs in alike for name in TESTS for rate in rates(runs, name))
    if most > max(MOST, limit(LEVEL, options.simulations)):
        raise SystemExit(f"a test of exchangeable recognisers rejects more than {MOST}")


if __name__ == "__main__":
    main()
