"""TER of long lines: edits are sacreBLEU's, and the work stays within what `edits` states.

Work is counted where kernels are plain Python, as steps and not as time. Real data: see `data` in
conftest.py.
"""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_edits import edits_both_ways, own_rows, pair, sacrebleu_rows

import sigtest
from sigtest.metrics.kernels import distances, edits


def joined(lines: list[str], count: int, segments: int = 0) -> list[str]:
    """Every `count` lines as one segment; the first `segments` of them, or all."""
    last = count * segments or len(lines)
    return [" ".join(lines[i : i + count]) for i in range(0, last, count)]


def lines_of(path: Path) -> list[str]:
    return path.read_text("utf-8").split("\n")


@pytest.mark.parametrize("options", [{}, {"normalized": True, "asian_support": True}], ids=str)
@pytest.mark.parametrize("corpus", ["wmt12.es-en", "wmt22.cs-en"])
def test_joined_lines_equal_sacrebleu_with_options(data, corpus, options):
    folder = data / corpus
    hypotheses = joined(lines_of(sorted((folder / "systems").iterdir())[1])[30:], 2, 6)
    references = joined(lines_of(next(iter(folder.glob("reference*"))))[30:], 2, 6)
    expected = sacrebleu_rows(hypotheses, [references], **options)
    np.testing.assert_array_equal(own_rows(hypotheses, [references], **options), expected)


@pytest.mark.parametrize("count", [3, 10, 100])
def test_bits_and_cells_agree_on_joined_lines(data, count):
    folder = data / "wmt12.es-en"
    references = joined(lines_of(folder / "reference.en")[:300], count)
    for path in sorted((folder / "systems").iterdir())[:2]:
        in_bits, in_cells = edits_both_ways(joined(lines_of(path)[:300], count), references)
        np.testing.assert_array_equal(in_bits, in_cells)


@pytest.mark.parametrize(("longest", "count"), [(70, 100), (150, 50), (400, 10)])
def test_bits_and_cells_agree_on_long_random_lines(longest, count):
    rng = random.Random(longest)
    hypotheses, references = zip(*(pair(rng, longest) for _ in range(count)), strict=True)
    in_bits, in_cells = edits_both_ways(list(hypotheses), list(references))
    np.testing.assert_array_equal(in_bits, in_cells)


def test_lines_of_any_two_lengths_equal_sacrebleu():
    rng = random.Random(1)
    hypotheses, references = [], []
    for n in range(1, 13):
        for m in (25 * n, 49 * n, 50 * n - 1, 50 * n, 50 * n + 1, 60 * n, rng.randrange(1, 60 * n)):
            words = [str(rng.randrange(rng.choice((2, 9, 300)))) for _ in range(m)]
            hypotheses.append(" ".join(rng.sample(words, min(m, n))))
            references.append(" ".join(words))
    for one, other in ((hypotheses, references), (references, hypotheses)):
        expected = sacrebleu_rows(one, [other])[:, 0]
        for way in edits_both_ways(one, other):
            np.testing.assert_array_equal(way, expected)


def test_the_beam_never_turns_back_and_fits_one_word_where_it_is_said_to():
    rng = random.Random(2)
    for _ in range(500):
        n = rng.choice((1, 2, 3, 7, 30, 200))
        m = rng.randrange(1, 55 * n)
        beam = [distances.beam(i, n, m) for i in range(1, n + 1)]
        assert sorted(low for low, _ in beam) == [low for low, _ in beam]
        assert sorted(high for _, high in beam) == [high for _, high in beam]
        widest = max(high - low for low, high in beam)
        assert (widest <= distances.WIDTH) >= distances.fits_bits(n, m)


def adversarial_lines() -> dict[str, tuple[list[str], list[str]]]:
    """Pairs of lines that make much work: shifts wherever one looks, or long lines."""
    rng = random.Random("60 40 17")
    random_words = [str(rng.randrange(40)) for _ in range(120)]
    few = random.Random(4)
    numbers = [str(i) for i in range(400)]
    swapped = list(numbers)
    for i in range(10, 390, 19):
        swapped[i], swapped[i + 1] = swapped[i + 1], swapped[i]
    hypothesis, reference = (
        [f"{side}{i}" if i % 10 == 9 else "a" for i in range(300)] for side in "xy"
    )
    for i in range(9, 280, 60):
        hypothesis[i] = reference[i + 5] = f"z{i}"
    return {
        "random words": (random_words[:60], random_words[60:]),
        "many swaps": (swapped, numbers),
        "everywhere alike": (hypothesis, reference),
        "one word": (["a"] * 2000, ["a"] * 1000 + ["b"] + ["a"] * 999),
        "in turn": (["a", "b"] * 500, ["b", "a"] * 500),
        "two words": (few.choices("ab", k=2000), few.choices("ab", k=2000)),
        "reversed": (numbers, numbers[::-1]),
        "rotated": (numbers, numbers[40:] + numbers[:40]),
        "short and long": (few.choices(numbers, k=12), few.choices(numbers, k=700)),
        "long and short": (few.choices(numbers, k=700), few.choices(numbers, k=12)),
        "one and many": (["a"], ["b"] * 3000 + ["a"]),
        "many and one": (["b"] * 3000 + ["a"], ["a"]),
    }


class Reads(np.ndarray):
    """An array that counts how often it is read."""

    reads = 0

    def __getitem__(self, at):
        type(self).reads += 1
        return super().__getitem__(at)


class Compared(Reads):
    """The same, on its own account."""

    reads = 0


def write_work() -> None:
    """Count the work of all adversarial lines; in plain Python, where functions can be replaced."""
    counts = {}

    def counted(name, module, kernel, size=lambda *_: 1):
        own = getattr(module, kernel)

        def run(*args):
            counts[name] += size(*args)
            return own(*args)

        setattr(module, kernel, run)

    def search(lines, *rest):
        counts["searches"] += 1
        Reads.reads = Compared.reads = 0
        watched = lines._replace(r=lines.r.view(Compared), following=lines.following.view(Reads))
        found = find(watched, *rest)
        counts["places"] = max(counts["places"], Reads.reads)
        counts["compared"] = max(counts["compared"], Compared.reads)
        return found

    find, edits.find_shifts = edits.find_shifts, search
    counted("rows", distances, "_step")
    counted("tried", edits, "try_bits")
    counted("tried", edits, "try_cells")
    counted("cells", distances, "_fill_row", lambda _, r, above, shift, row, low: len(row))
    work = {}
    for name, (hypothesis, reference) in adversarial_lines().items():
        counts.update(searches=0, places=0, compared=0, rows=0, tried=0, cells=0)
        rows = own_rows([" ".join(hypothesis)], [[" ".join(reference)]])
        work[name] = {**counts, "edits": int(rows[0, 0])}
    sys.stdout.write(json.dumps(work))


@pytest.fixture(scope="module")
def work() -> dict[str, dict[str, int]]:
    folders = [str(Path(__file__).parent), str(Path(sigtest.__file__).parents[1])]
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error::RuntimeWarning",
            "-c",
            f"from {Path(__file__).stem} import write_work; write_work()",
        ],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(folders)},
        check=True,
        capture_output=True,
    )
    counts: dict[str, dict[str, int]] = json.loads(done.stdout)
    return counts


@pytest.mark.parametrize("name", adversarial_lines())
def test_adversarial_lines_take_no_more_work_than_stated(name, work):
    n, m = map(len, adversarial_lines()[name])
    counts = work[name]
    assert counts["searches"] <= 1000
    assert counts["tried"] <= 999
    assert counts["rows"] < 2000 * n
    assert counts["cells"] < (counts["searches"] + 1 + counts["tried"]) * 4 * m
    assert counts["places"] <= 101 * n + m
    assert counts["compared"] <= 10 * 101 * n


def test_the_stated_work_is_not_far_from_what_some_lines_need(work):
    assert work["random words"]["rows"] > 600 * 60
    assert work["random words"]["tried"] > 800
    assert work["many swaps"]["searches"] > 15
    assert work["everywhere alike"]["compared"] > 100 * 300
    assert work["short and long"]["cells"] > 0


@pytest.mark.parametrize("name", adversarial_lines())
def test_adversarial_lines_have_the_same_edits_however_they_are_counted(name, work):
    hypothesis, reference = (" ".join(words) for words in adversarial_lines()[name])
    in_bits, in_cells = edits_both_ways([hypothesis], [reference])
    assert [in_bits[0], in_cells[0]] == [work[name]["edits"]] * 2
