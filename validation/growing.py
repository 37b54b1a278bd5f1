"""Boards that grow: `python -m validation.growing [--orders 1000] [--simulations 1000]`.

Systems arrive in random order, some are replaced and some deleted. How many published claims are
taken back, by a board that corrects for the systems present and by one with a capacity? And how
often does a board on which nothing differs ever claim anything, looked at whenever a system comes?
The p-values of all pairs are computed once, by the product; the correction is the product's.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import ttest_1samp

from sigtest.arrays import Array, Flags
from sigtest.comparison.parse import parse_comparison
from sigtest.data.text import parse_lines
from sigtest.engine import compare
from sigtest.significance.corrections import adjust
from validation.parallel import one_thread
from validation.populations import Corpus, corpora
from validation.settings import SEED

CAPACITY = 64
ALPHA = 0.05
FAMILY = CAPACITY * (CAPACITY - 1) // 2
GROWING = 14  # part of every seed


@dataclass(frozen=True)
class Withdrawn:
    """What became of claims in many orders of arrival.

    Attributes:
        present: Orders in which the board of the systems present took a claim back.
        fixed: Orders in which the board with a capacity did.
        kept: Share of the present board's last claims that the one with a capacity makes too.
    """

    present: int
    fixed: int
    kept: float


def p_values(corpus: Corpus, metric: str, resamples: int) -> Array:
    """(S, S) two-sided randomization p-values of all pairs."""
    files = sorted(corpus.files)
    systems = [{"name": f.name[: -len(corpus.suffix)], "hypotheses": _lines(f)} for f in files]
    references = [_lines(corpus.folder / name) for name in corpus.references]
    body = {
        "references": references,
        "systems": systems,
        "metrics": [metric],
        "resamples": resamples,
    }
    report = compare(parse_comparison(body))
    size = len(files)
    p = np.ones((size, size))
    for (a, b), pair in zip(combinations(range(size), 2), report.pairs, strict=True):
        p[a, b] = p[b, a] = pair.p_value
    return p


def _lines(path: Path) -> list[str]:
    return list(parse_lines(path.read_bytes(), path.name))


def watched(p: Array, orders: int, number: int) -> Withdrawn:
    """Let systems come, be replaced and go; see which claims fall."""
    size = len(p)
    fallen, shares = np.zeros(2, dtype=int), []
    for order in range(orders):
        rng = np.random.default_rng((SEED, GROWING, number, order))
        there: list[int] = []
        seen: set[tuple[int, int]] = set()
        before: list[set[tuple[int, int]]] = [set(), set()]
        fell = np.zeros(2, dtype=bool)
        for system in rng.permutation(size).tolist():
            if len(there) > 2 and rng.random() < 0.15:  # one leaves; its pairs have been seen
                there.remove(int(rng.choice(there)))
            there.append(system)
            pairs = [(min(pair), max(pair)) for pair in combinations(there, 2)]
            seen |= set(pairs)
            now = [_claims(p, pairs, len(pairs), []), _claims(p, pairs, FAMILY, sorted(seen))]
            for board in (0, 1):
                still = before[board] & set(pairs)
                fell[board] |= bool(still - now[board])
            before = now
        fallen += fell
        if before[0]:
            shares.append(len(before[1] & before[0]) / len(before[0]))
    return Withdrawn(int(fallen[0]), int(fallen[1]), float(np.mean(shares)))


def _claims(
    p: Array, pairs: list[tuple[int, int]], family: int, seen: list[tuple[int, int]]
) -> set[tuple[int, int]]:
    gone = [pair for pair in seen if pair not in set(pairs)]
    values = np.array([p[pair] for pair in [*pairs, *gone]])
    significant: Flags = adjust(values, "holm", family)[: len(pairs)] <= ALPHA
    return {pair for pair, claimed in zip(pairs, significant, strict=True) if claimed}


def false_claims(simulations: int, systems: int = 12, n: int = 300) -> int:
    """How many boards without any difference ever claim one, looked at at every arrival.

    Two-sided t-tests take the place of randomization, which they equal at this size.
    """
    wrong = 0
    for i in range(simulations):
        rng = np.random.default_rng((SEED, GROWING, 99, i))
        scores = rng.normal(size=(systems, n))
        p = np.ones((systems, systems))
        for a, b in combinations(range(systems), 2):
            p[a, b] = ttest_1samp(scores[a] - scores[b], 0.0).pvalue
        pairs = list(combinations(range(systems), 2))
        # adjusted p-values only fall, so that what was ever claimed is claimed at the end
        wrong += bool(_claims(p, pairs, systems * (systems - 1) // 2, []))
    return wrong


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(prog="python -m validation.growing", description=__doc__)
    parser.add_argument("--orders", type=int, default=1_000)
    parser.add_argument("--simulations", type=int, default=1_000)
    parser.add_argument("--resamples", type=int, default=79_999)
    options = parser.parse_args()
    one_thread()
    print("| board | claims taken back: systems present | capacity 64 | claims kept |")
    print("| --- | --- | --- | --- |")
    for number, corpus in enumerate(corpora()):
        for metric in ("bleu", "chrf"):
            found = watched(p_values(corpus, metric, options.resamples), options.orders, number)
            print(
                f"| {corpus.name}, {metric} | {found.present / options.orders:.1%} "
                f"| {found.fixed} of {options.orders:,} | {found.kept:.1%} |",
                flush=True,
            )
    wrong = false_claims(options.simulations)
    print(f"a family of exactly the systems that come: {wrong} of {options.simulations:,} boards "
          "without differences ever claim one")  # fmt: skip


if __name__ == "__main__":
    main()
