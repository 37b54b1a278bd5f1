"""Error rates of recognisers, transcripts to report, against jiwer's counting alone.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.speech

Two systems of 10,000 utterances of 3 to 35 words, a tenth of them wrong, CPU seconds of one
process, in turn, kernels ready. sigtest counts least edits, aligns with the kit's weights, tests by
randomization and by matched pairs, draws intervals, and looks at the health of outputs.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import jiwer

from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare

UTTERANCES = 10_000
RUNS = 5
MOST = 1.5
TESTS = ["approximate_randomization", "matched_pairs"]


def transcripts() -> tuple[list[str], dict[str, list[str]]]:
    rng = random.Random(0)
    words = [f"w{i}" for i in range(5000)]
    said = [[rng.choice(words) for _ in range(rng.randint(3, 35))] for _ in range(UTTERANCES)]

    def heard(line: list[str]) -> str:
        out = []
        for word in line:
            chance = rng.random()
            if chance > 0.03:
                out.append(rng.choice(words) if chance < 0.08 else word)
            if rng.random() < 0.03:
                out.append(rng.choice(words))
        return " ".join(out)

    return [" ".join(line) for line in said], {n: [*map(heard, said)] for n in "ab"}


def spent(run: Callable[[], object]) -> float:
    """CPU seconds of one run."""
    since = time.process_time()
    run()
    return time.process_time() - since


def main() -> None:
    references, outputs = transcripts()
    systems = [{"name": name, "hypotheses": lines} for name, lines in outputs.items()]
    for metric, count in (("wer", jiwer.wer), ("cer", jiwer.cer)):
        request = {"references": [references], "systems": systems, "metrics": [metric]}

        def mine(request: dict[str, object] = request) -> None:
            compare(parse_comparison({**request, "tests": TESTS}))

        def theirs(count: Callable[..., float] = count) -> None:
            for lines in outputs.values():
                count(references, lines)

        mine()
        taken = [(spent(mine), spent(theirs)) for _ in range(RUNS)]
        own, other = (min(column) for column in zip(*taken, strict=True))
        above = "" if own <= MOST * other else f", above {MOST}"
        print(
            f"{metric}: sigtest {own:.2f}, jiwer {other:.2f} CPU s, ratio {own / other:.2f}{above}"
        )


if __name__ == "__main__":
    main()
