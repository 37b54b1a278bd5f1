"""After `warm`, no question waits for a compiler: a second one is not faster than the first."""

import subprocess
import sys

import pytest

from sigtest.compiled import COMPILED

# Runs in a process of its own: what other tests have compiled must not count.
SCRIPT = """
import gc
import itertools
import random
from functools import partial

import numpy as np

from numba.core.registry import CPUDispatcher

from sigtest.comparison.comparison import Comparison
from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare
from sigtest.draws.totals import alone, exact_fact, resample, swap_fact
from sigtest.engine import measure
from sigtest.draws.distribution import distribution, pair_of
from sigtest.kinds import KINDS
from sigtest.kinds.cost import exact_seconds
from sigtest.segments import segment_shares
from sigtest.significance import resampling_tests
from sigtest.warm import warm


def signatures():
    return {
        (kernel.py_func.__module__, kernel.py_func.__name__, str(signature))
        for kernel in gc.get_objects()
        if isinstance(kernel, CPUDispatcher) and kernel.py_func.__module__.startswith("sigtest")
        for signature in kernel.signatures
    }


rng = random.Random(0)
words = ["tea", "cup", "fish", "Zuerich", "1,000.5", "n\\u00e4mlich", "\\u4e2d\\u6587", "e\\u0301!"]


def text():
    return [" ".join(rng.choices(words, k=rng.randint(0, 40))) for _ in range(60)]


references = [text()]
outputs = [[line if rng.random() < 0.5 else other for line, other in zip(references[0], text())]
           for _ in range(4)]
systems = [{"name": f"s{i}", "hypotheses": lines} for i, lines in enumerate(outputs)]
scores = [
    {"name": f"s{i}", "scores": {
        "coarse": [rng.randint(0, 9) for _ in range(60)],
        "fine": [rng.random() for _ in range(60)],
        "ratio": [[rng.randint(0, 9), 10] for _ in range(60)],
    }}
    for i in range(3)
]
replicas = [{"name": n, "replicas": [text(), text()]} for n in "abc"]
everything = ["bleu", "chrf", "chrf++", "ter", "nist"]
plain = {"references": references, "systems": systems, "metrics": everything, "resamples": 99}
all_tests = {**plain, "tests": list(resampling_tests())}
drawing = [name for name, test in resampling_tests().items() if test.draws != "studentised"]
requests = [
    all_tests,
    {**all_tests, "alternative": "less"},
    {**all_tests, "alternative": "greater", "pairs": {"baseline": "s1"}, "exact": "never"},
    {**all_tests, "documents": [str(i // 6) for i in range(60)], "unit": "document"},
    {**plain, "tests": drawing, "labels": [str(i % 3) for i in range(60)], "stratified": True},
    {**all_tests, "references": [references[0], text()]},
    {**plain, "tests": ["bootstrap"], "correction": "max_t"},
    {**plain, "correction": "tukey"},
    {**plain, "metrics": ["bleu:tokenize=intl", "bleu:tokenize=zh", "bleu:tokenize=char",
                          "bleu:tokenize=none,smooth_method=floor", "bleu:max_ngram_order=3"]},
    {**plain, "metrics": ["chrf:eps_smoothing=true", "chrf:whitespace=true,lowercase=true",
                          "ter:normalized=true,no_punct=true", "nist:tokenize=intl"]},
    {**plain, "systems": replicas},
    {"systems": scores, "tests": list(resampling_tests()), "resamples": 99, "metrics": [
        {"name": "scores", "of": "coarse"}, {"name": "scores", "of": "fine"},
        {"name": "ratio", "of": "ratio"}]},
]

warm(others=True)
before = signatures()
for request in requests:
    compare(parse_comparison(request))
for pooled in (False, True):
    content = {"references": references, "systems": systems}
    testsets = [{"name": name, **content} for name in "uv"]
    compare(parse_comparison({"testsets": testsets, "metrics": ["bleu", "ter"], "resamples": 99,
                            "tests": drawing, "pooled": pooled}))
board = parse_comparison({**plain, "tests": drawing})
(entry,), (part,) = board.entries, board.plan.parts
exact_seconds(entry, part)
totals, tables = zip(*(
    (resample(alone(part, place), [table[None] for table in own]), own)
    for place, system in enumerate(entry.systems)
    for own in [[measure(entry.testset, system, metric) for metric in board.recipe.metrics]]
))
for m in range(len(everything)):
    exact_fact(part, m, (tables[0][m], tables[1][m]))
    swap_fact(part, m, totals[0], totals[1])
pair, _ = pair_of(part, "s0", "s1", "bleu", drawing[0])
table = np.stack([tables[0][0], tables[1][0]])
distribution(pair, [table], "bleu")
segment_shares(board.recipe.metrics[0], table, 1)

names = [f"m{i}" for i in range(9)]


def segments(missing=False):
    found = {name: [rng.randint(0, 5) / 2 for _ in range(7)] for name in names}
    found["m0"][0] = None if missing else 1
    return {"segment": found}


def by_system():
    return {"system": {name: rng.random() for name in names}}


evaluations = [
    {"human": {"scores": scored()}, "metrics": {label: scored() for label in "xyz"}, **choices}
    for scored, levels in (
        (segments, [{"level": "segment", "group": g} for g in ("none", "item", "system")] + [{}]),
        (partial(segments, True), [{"level": "segment", "group": "item"}, {}]),
        (by_system, [{}]),
    )
    for level in levels
    for choices in ({**level, "resamples": 40}, {**level, "absolute": True, "resamples": 99,
                    "alternative": "two-sided", "correction": "bonferroni"})
]
rows = [{"annotator": w, "system": name, "segment": i, "score": rng.randint(0, 100)}
        for w in "uv" for name in "abc" for i in range(1, 30)]
people = [{"judgements": rows}, {"judgements": rows, "resamples": 50}]
studied = {"comparison": plain, "difference": 1.5}
human = {"pairs": [{"a": a, "b": b, "p_greater": 0.02, "p_less": 0.98}
                   for a, b in itertools.combinations([f"s{i}" for i in range(4)], 2)]}
tests = ["approximate_randomization", "paired_bootstrap", "bootstrap"]
accuracies = [{"human": human, "comparison": {**plain, "metrics": ["bleu", "ter"], "tests": tests}}]
others = {"metric-evaluations": evaluations, "human-evaluations": people, "plans": [studied],
          "test-accuracy": accuracies}
for path, bodies in others.items():
    for body in bodies:
        KINDS[path].compute(KINDS[path].parse(body))
for late in sorted(signatures() - before):
    print(*late)
"""


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="nothing is compiled here")
def test_no_comparison_waits_for_a_compiler():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
