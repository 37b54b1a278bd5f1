"""NIST: against mteval-v13a's printed scores, and digit for digit against textbook loops."""

from collections.abc import Callable

import numpy as np
import plain_nist
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigtest.data.testset import System, TestSet
from sigtest.data.text import Text, parse_lines
from sigtest.errors import RecipeError
from sigtest.metrics import METRICS
from sigtest.metrics.nist import Nist

WORDS = [
    "a",
    "b",
    "0",
    "00",
    "the",
    "A",
    "B-2",
    "3.14",
    ".",
    ",",
    "&amp;",
    "&quot;",
    "Σ",
    "ΑΣ",
    "x.",
]
LINES = st.lists(st.sampled_from(WORDS), max_size=10).map(" ".join)


def cutter(metric: Nist) -> Callable[[str], plain_nist.Words]:
    cut = plain_nist.words_13a if metric.tokenize == "13a" else plain_nist.words_intl
    return lambda line: cut(line, metric.lowercase)


def require_equal(metric: Nist, references: list[list[str | None]], texts: list[str]) -> None:
    cut = cutter(metric)
    expected = plain_nist.nist_statistics(
        [[None if line is None else cut(line) for line in lines] for lines in references],
        [cut(line) for line in texts],
        metric.max_ngram_order,
    )
    testset = TestSet.of(references)
    found = metric.statistics(testset, System.of("s", texts))
    assert found.tolist() == expected
    score = float(metric.score(found.sum(axis=0)))
    assert score == pytest.approx(
        plain_nist.nist_score(expected, metric.max_ngram_order), rel=1e-12
    )


def test_scores_are_those_that_mteval_prints(data, oracles):
    folder = data / "wmt12.es-en"
    metric = METRICS["nist"]()
    testset = TestSet.of([parse_lines((folder / "reference.en").read_bytes(), "reference")])
    lines = (oracles / "metrics.wmt12.es-en.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines if "\tNIST5_mteval\t" in line]
    assert len(rows) == 12
    for _, name, _, _, printed, _, tolerance, *_ in rows:
        texts = parse_lines((folder / "systems" / f"{name}.en").read_bytes(), name)
        sums = metric.statistics(testset, System.of(name, texts)).sum(axis=0)
        assert float(metric.score(sums)) == pytest.approx(float(printed), abs=float(tolerance))


@pytest.mark.parametrize(
    ("references", "expected"),
    [
        # What the arithmetic of mteval-v13a.pl, in Perl 5, gives for these lines.
        ([["0 a b 0 0 . c a", "x 0 a"], ["0 a a", "y 0 c"]], 3.011937960668)
    ],
)
def test_zero_is_no_prefix_as_in_mteval(references, expected):
    metric = Nist()
    statistics = metric.statistics(TestSet.of(references), System.of("s", ["0 a c", "x 0 a y 0"]))
    assert float(metric.score(statistics.sum(axis=0))) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize(
    "metric",
    [
        Nist(),
        Nist(lowercase=True),
        Nist(tokenize="intl"),
        Nist(True, "intl", 3),
        Nist(False, "13a", 1),
    ],
    ids=lambda metric: metric.spelling,
)
@given(batch=st.lists(st.tuples(LINES, LINES, LINES, st.integers(0, 2)), min_size=1, max_size=12))
@settings(max_examples=20)
def test_statistics_are_those_of_textbook_loops(metric, batch):
    texts = [text for text, _, _, _ in batch]
    first: list[str | None] = [None if gap == 1 else line for _, line, _, gap in batch]
    second: list[str | None] = [None if gap == 2 else line for _, _, line, gap in batch]
    require_equal(metric, [first, second], texts)


def test_statistics_of_real_text_are_those_of_textbook_loops(data):
    folder = data / "wmt22.cs-en"
    references: list[list[str | None]] = [
        list(parse_lines((folder / f"reference.{name}.en").read_bytes(), name)[:150])
        for name in ("B", "C")
    ]
    references[0][3] = references[1][5] = None
    path = min((folder / "systems").iterdir())
    texts = list(parse_lines(path.read_bytes(), path.name)[:150])
    for metric in (Nist(), Nist(tokenize="intl", lowercase=True, max_ngram_order=9)):
        require_equal(metric, references, texts)


def test_information_is_that_of_the_whole_test_set():
    metric = Nist()
    references, texts = ["a b c", "a b d", "c c"], ["a b c", "a d", "c"]
    whole = metric.statistics(TestSet.of([references]), System.of("s", texts))
    assert whole[0, 1] == pytest.approx(2 * np.log2(8 / 2) + np.log2(8 / 3))
    assert whole[:, 0].tolist() == [3, 3, 2]


def test_length_penalty_is_one_half_at_two_thirds():
    metric = Nist(max_ngram_order=1)
    sums = np.array([[3.0, 2.0, 2.0], [2.0, 2.0, 2.0], [3.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    assert metric.score(sums).tolist() == pytest.approx([0.5, 1.0, 0.0, 0.0])


def test_empty_texts_score_nothing():
    metric = Nist()
    for references, texts in ((["", ""], ["a", ""]), (["a", ""], ["", ""]), ([""], [""])):
        sums = metric.statistics(TestSet.of([references]), System("s", Text(texts))).sum(axis=0)
        assert float(metric.score(sums)) == 0


def test_scores_do_not_depend_on_their_neighbours():
    rng = np.random.default_rng(1)
    metric = Nist()
    sums = rng.random((40, metric.width)) * 50
    together = metric.score(sums)
    assert together.tolist() == [float(metric.score(row)) for row in sums]


@pytest.mark.parametrize("options", [{"tokenize": "zh"}, {"max_ngram_order": 0}])
def test_options_outside_their_range_are_refused(options):
    with pytest.raises(RecipeError):
        Nist(**options)
