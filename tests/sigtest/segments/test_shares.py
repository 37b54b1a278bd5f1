"""Shares of a difference by segment, and which segments are shown in which order."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import spearmanr

from sigtest.arrays import Array
from sigtest.data.testset import System, TestSet
from sigtest.data.text import Text
from sigtest.engine import measure
from sigtest.errors import RecipeError
from sigtest.metrics import METRICS, Metric
from sigtest.metrics.scores import Fscore, Ratio, Scores
from sigtest.segments import Filter, Segments, marked_words, rows_of, segment_shares

RNG = np.random.default_rng(7)
WORDS = [f"w{i}" for i in range(60)]


def texts(n: int = 200) -> tuple[TestSet, System, System]:
    reference = [list(RNG.choice(WORDS, size=RNG.integers(5, 25))) for _ in range(n)]

    def noisy(error: float) -> Text:
        return Text(
            " ".join(word if RNG.random() > error else RNG.choice(WORDS) for word in line)
            for line in reference
        )

    testset = TestSet(n, (Text(" ".join(line) for line in reference),))
    return testset, System("a", noisy(0.3)), System("b", noisy(0.35))


def tabled(metric: Metric) -> Array:
    testset, a, b = texts()
    return np.stack([measure(testset, system, metric) for system in (a, b)])


@pytest.mark.parametrize("name", ["bleu", "chrf", "chrf++", "ter", "nist"])
def test_shares_sum_to_the_difference(name):
    metric = METRICS[name]()
    table = tabled(metric)
    scores = metric.score(table.sum(axis=1))
    assert segment_shares(metric, table).sum() == pytest.approx(scores[0] - scores[1], rel=1e-9)


def test_a_jump_is_of_the_segments_that_make_it():
    """b has no 4-gram, a has one in its last segment; the first is better by words alone.

    Its share is the integral of the product of precisions over the way, and the rest the other's.
    """
    references = ["a b c d e f g h", "i j k l m n o p"]
    a = ["a b x c d y e f", "i j k l q r s t"]
    b = ["a b x z z y e f", "i j k q l r s t"]
    metric = METRICS["bleu"]()
    testset = TestSet(2, (Text(references),))
    table = np.stack(
        [measure(testset, System(n, Text(t)), metric) for n, t in (("a", a), ("b", b))]
    )
    sums = table.sum(axis=1)
    matches = [i for i in range(sums.shape[1]) if sums[0, i] > 0 == sums[1, i]]
    assert len(matches) == 1  # of 4-grams
    found = segment_shares(metric, table)
    top = metric.score(sums[0])
    moved = table[0, 0] - table[1, 0]

    def pushed(t: float) -> float:
        here = sums[1] + t * (sums[0] - sums[1])
        return float(metric.score(here) * (moved / np.where(moved == 0, 1.0, 4 * here)).sum())

    expected = quad(pushed, 0, 1, limit=500)[0]
    assert top > 0
    assert found[0] == pytest.approx(expected, rel=1e-3)
    assert found.sum() == pytest.approx(top - metric.score(sums[1]), rel=1e-9)


def test_of_a_mean_each_share_is_its_difference_over_n():
    values = RNG.normal(size=(2, 50))
    table = np.stack([values, np.ones_like(values)], axis=2)
    expected = (values[0] - values[1]) / 50
    np.testing.assert_allclose(segment_shares(Scores(), table), expected, rtol=1e-12)


def test_of_ter_each_share_is_its_difference_of_edits_over_all_words():
    metric = METRICS["ter"]()
    table = tabled(metric)
    edits = table[0, :, 0] - table[1, :, 0]
    expected = 100 * edits / table[0, :, 1].sum()
    np.testing.assert_allclose(segment_shares(metric, table), expected, rtol=1e-12)


def test_of_equal_means_shares_are_not_zero():
    table = np.array([[[1.0, 1], [0, 1]], [[0, 1], [1, 1]]])
    np.testing.assert_allclose(segment_shares(Scores(), table), [0.5, -0.5], rtol=1e-12)


@pytest.mark.parametrize("metric", [Ratio(), Fscore()])
def test_of_ratios_over_unequal_sums_shares_are_the_integral(metric):
    """The way in 100,000 straight steps, each shared out by its own gradient."""
    table = RNG.uniform(1, 5, size=(2, 8, metric.width))
    sums, pushes = table.sum(axis=1), table[0] - table[1]
    expected = np.zeros(8)
    for step in range(2000):
        at = sums[1] + (step + 0.5) / 2000 * (sums[0] - sums[1])
        ahead = metric.score(at + 1e-6 * pushes)
        expected += (ahead - metric.score(at - 1e-6 * pushes)) / 2e-6 / 2000
    np.testing.assert_allclose(segment_shares(metric, table), expected, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("name", ["bleu", "chrf"])
def test_shares_order_segments_as_leaving_each_out_does(name):
    metric = METRICS[name]()
    table = tabled(metric)
    without = table.sum(axis=1)[:, None] - table
    left_out = metric.score(table.sum(axis=1))[:, None] - metric.score(without)
    order = spearmanr(segment_shares(metric, table), left_out[0] - left_out[1])
    assert order.statistic > 0.98


def test_replicas_share_a_segment():
    metric = METRICS["bleu"]()
    table = tabled(metric)
    twice = np.concatenate([table, table], axis=1)
    np.testing.assert_allclose(
        segment_shares(metric, twice, 2), segment_shares(metric, table), rtol=1e-6
    )


def test_equal_systems_have_no_shares():
    metric = METRICS["bleu"]()
    table = tabled(metric)
    assert not segment_shares(metric, np.stack([table[0], table[0]])).any()


SEGMENTS = Segments(
    shares=np.array([0.5, -2.0, 1.0, 0.0]),
    reference=("a b c", "a", "a b", "a b c d e"),
    a=("a", "b", "c", "d"),
    b=("e", "f", "g", "h"),
    documents=("one", "one", "two", "two"),
)


def numbers(higher: bool = True, **chosen: object) -> list[int]:
    found = rows_of(SEGMENTS, Filter(**chosen), higher, 0, 20)  # type: ignore[arg-type]
    return [row.number for row in found.rows]


def test_the_largest_share_comes_first():
    assert numbers() == [2, 3, 1, 4]


def test_orders():
    assert numbers(order="a") == [3, 1, 4, 2]
    assert numbers(order="b") == [2, 4, 1, 3]
    assert numbers(order="place") == [1, 2, 3, 4]
    assert numbers(higher=False, order="a") == [2, 4, 1, 3]


def test_filters():
    assert numbers(document="two") == [3, 4]
    assert numbers(better="a") == [3, 1]
    assert numbers(better="b") == [2]
    assert numbers(higher=False, better="a") == [2]
    assert numbers(shortest=2, longest=3) == [3, 1]


def test_some_at_a_time_with_what_they_add_up_to():
    found = rows_of(SEGMENTS, Filter(), True, 1, 2)
    assert [row.number for row in found.rows] == [3, 1]
    assert (found.wanted, found.carried, found.in_all) == (4, -0.5, -0.5)
    assert found.rows[0].document == "two"
    assert (found.rows[0].a, found.rows[0].b) == ("c", "g")


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"document": "three"}, "Unknown document 'three'"),
        ({"order": "c"}, "Unknown order 'c'"),
        ({"better": "aspen"}, "Unknown side of the pair 'aspen'; choose one of a, b."),
    ],
)
def test_what_is_not_there_is_an_error(chosen, said):
    with pytest.raises(RecipeError, match=said):
        numbers(**chosen)


def test_words_that_differ_are_marked():
    a, b = marked_words("the red house stands", "the house stands still")
    assert "".join(part for part, marked in a if marked).strip() == "red"
    assert "".join(part for part, marked in b if marked).strip() == "still"


def test_letters_of_scripts_without_blanks_are_compared():
    a, b = marked_words("我爱你们", "我爱他们")
    assert [part for part, marked in a if marked] == ["你"]
    assert [part for part, marked in b if marked] == ["他"]


@pytest.mark.parametrize("line", ["", "  two  blanks ", "a\tb", "x " * 3000])
def test_joined_stretches_are_the_line(line):
    a, b = marked_words(line, "a b c")
    assert "".join(part for part, _ in a) == line
    assert "".join(part for part, _ in b) == "a b c"
