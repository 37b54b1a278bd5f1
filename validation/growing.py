"""Boards that grow: `python -m validation.growing --simulations 5000 --keep FILE`.

Systems arrive in random order, some are replaced and some deleted. How many published claims are
taken back, by a board that corrects for the systems present and by one with a capacity? And how
often does a board on which nothing differs ever claim anything, looked at whenever a system comes?
The p-values of all pairs are computed once, by the product; the correction is the product's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from sigtest.arrays import Array, Flags
from sigtest.comparison.comparison import parse_comparison
from sigtest.data.text import parse_lines
from sigtest.engine import compare
from sigtest.metrics.scores import Scores
from sigtest.significance.corrections import adjust
from validation import kept
from validation.beside import sample_beside, swap_p_values
from validation.kept import Found, Task
from validation.populations import Corpus, corpora, data_folder
from validation.settings import SEED

CAPACITY = 64
ALPHA = 0.05
FAMILY = CAPACITY * (CAPACITY - 1) // 2
GROWING = 14  # part of every seed
ORDERS = 1_000
SYSTEMS = 12  # that come to a board without differences
UNITS = 300
LENGTH = 10  # such boards a run, beside one another
RESAMPLES = (79_999, 159_999, 639_999)  # what a capacity of 64 asks for, and how p resolves finer
METRICS = ("bleu", "chrf")


@dataclass(frozen=True)
class Withdrawn:
    """What became of claims in many orders of arrival.

    Attributes:
        present: Orders in which the board of the systems present took a claim back.
        fixed: Orders in which the board with a capacity did.
        kept: Share of the present board's last claims that the one with a capacity makes too.
        error: Its standard error over the orders.
    """

    present: int
    fixed: int
    kept: float
    error: float


def boards() -> tuple[Corpus, ...]:
    """The real test sets whose systems arrive."""
    data = data_folder()
    if data is None:
        return corpora()
    return (*corpora(), Corpus("wmt17.en-de", data / "wmt17.en-de", ("reference.de",), ".txt"))


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
    error = float(np.std(shares, ddof=1)) / math.sqrt(len(shares))
    return Withdrawn(int(fallen[0]), int(fallen[1]), float(np.mean(shares)), error)


def _claims(
    p: Array, pairs: list[tuple[int, int]], family: int, seen: list[tuple[int, int]]
) -> set[tuple[int, int]]:
    gone = [pair for pair in seen if pair not in set(pairs)]
    values = np.array([p[pair] for pair in [*pairs, *gone]])
    significant: Flags = adjust(values, "holm", family)[: len(pairs)] <= ALPHA
    return {pair for pair, claimed in zip(pairs, significant, strict=True) if claimed}


def false_claims(task: Task) -> Found:
    """How many boards without any difference ever claim one, looked at whenever a system comes.

    The family is as small as it may be: exactly the systems that come.
    """
    run = int(task[1])
    rng = np.random.default_rng((SEED, GROWING, 99, run))
    shared = rng.normal(size=(LENGTH, 1, UNITS))
    scores = 100 * (shared + rng.normal(size=(LENGTH, SYSTEMS, UNITS)))
    rows = np.rint(scores).reshape(-1, UNITS) + 1_000
    pairs = list(combinations(range(SYSTEMS), 2))
    sample = sample_beside(
        [Scores()],
        [np.stack([rows, np.ones_like(rows)], axis=2)],
        tuple((i * SYSTEMS + a, i * SYSTEMS + b) for i in range(LENGTH) for a, b in pairs),
        resamples=3_999,
        seed=int(rng.integers(2**63)),
    )
    p = swap_p_values(sample)[0].reshape(LENGTH, len(pairs))
    wrong = 0
    for own in p:
        came = [
            adjust(own[[i for i, (_, b) in enumerate(pairs) if b <= last]], "holm", len(pairs))
            for last in range(1, SYSTEMS)
        ]
        wrong += any((adjusted <= ALPHA).any() for adjusted in came)
    return {"wrong": [wrong], "of": [LENGTH]}


def board(task: Task) -> Found:
    """What became of claims on one real board, in many orders."""
    number, corpus = next((i, c) for i, c in enumerate(boards()) if c.name == task[1])
    p = p_values(corpus, str(task[2]), int(task[4]))
    found = watched(p, int(task[3]), number)
    return {
        "present": [found.present],
        "fixed": [found.fixed],
        "kept": [found.kept, found.error],
    }


def made(task: Task) -> Found:
    """One run of either kind."""
    return board(task) if task[0] == "board" else false_claims(task)


def told(found: dict[Task, Found]) -> str:
    """A table of boards, and a sentence on false claims."""
    rows = [
        [
            f"{task[1]}, {task[2]}",
            f"{task[3]:,}",
            f"{task[4]:,}",
            f"in {run['present'][0] / int(task[3]):.0%}",
            "in none" if not run["fixed"][0] else f"in {run['fixed'][0] / int(task[3]):.1%}",
            "{:.2%} ± {:.2%}".format(*run["kept"]),
        ]
        for task, run in found.items()
        if task[0] == "board"
    ]
    head = (
        "board", "orders", "resamples", "systems present", "capacity 64",
        "claims kept at capacity 64 ± standard error",
    )  # fmt: skip
    runs = [run for task, run in found.items() if task[0] == "false"]
    if not runs:
        return kept.table(head, rows)
    wrong, of = (sum(int(run[key][0]) for run in runs) for key in ("wrong", "of"))
    return (
        f"{kept.table(head, rows)}\n\nOf {of:,} boards of {SYSTEMS} systems without any difference "
        f"({UNITS} units, randomization, Holm, a family of exactly these systems, watched whenever "
        f"a system comes) {wrong / of:.4f} ever make a claim; three standard errors above .05 is "
        f"{ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / of):.4f}."
    )


def main() -> None:
    """Make the runs that are missing, and print what all of them say."""
    options = kept.arguments("growing", __doc__, 5_000)
    tasks: list[Task] = [("false", run) for run in range(-(-options.simulations // LENGTH))]
    tasks += [
        ("board", corpus.name, metric, ORDERS, resamples)
        for resamples in RESAMPLES
        for corpus in boards()
        for metric in METRICS
    ]
    block = told(kept.resumed(options.keep, tasks, made))
    print(block)
    if options.write:
        kept.write("growing", block)


if __name__ == "__main__":
    main()
