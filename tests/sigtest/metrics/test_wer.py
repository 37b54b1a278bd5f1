"""Word and character error rates: against jiwer 4.0.0, and a textbook with weights 4, 3, 3."""

import random
import unicodedata
from collections.abc import Sequence
from typing import Any

import pytest

from sigtest import InputError, RecipeError, compare
from sigtest.arrays import Array
from sigtest.data.testset import System, TestSet
from sigtest.metrics import METRICS
from sigtest.metrics.kernels.alignment import align
from sigtest.metrics.kernels.tokens import code_points

jiwer = pytest.importorskip("jiwer", reason="make install brings it")
RATES = {"wer": jiwer.wer, "cer": jiwer.cer}


def textbook(reference: Sequence[str], hypothesis: Sequence[str]) -> list[int]:
    """Substitutions, deletions and insertions with weights 4, 3, 3; ties as in `net_dp.c`."""
    n, m = len(reference), len(hypothesis)
    cost = [[3 * (i + j) for j in range(m + 1)] for i in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            unlike = 4 * (reference[i - 1] != hypothesis[j - 1])
            ways = cost[i - 1][j - 1] + unlike, cost[i - 1][j] + 3, cost[i][j - 1] + 3
            cost[i][j] = min(ways)
    i, j, counts = n, m, [0, 0, 0]
    while i or j:
        unlike = bool(i and j) and reference[i - 1] != hypothesis[j - 1]
        if i and j and cost[i][j] == cost[i - 1][j - 1] + 4 * unlike:
            counts[0] += unlike
            i, j = i - 1, j - 1
        elif j and cost[i][j] == cost[i][j - 1] + 3:  # before a deletion that costs the same
            counts[2] += 1
            j -= 1
        else:
            counts[1] += 1
            i -= 1
    return counts


def statistics(
    name: str, references: Sequence[str], hypotheses: Sequence[str], **options: Any
) -> Array:
    return METRICS[name](**options).statistics(TestSet.of([references]), System.of("A", hypotheses))


def rate(name: str, reference: Sequence[str], hypothesis: Sequence[str], **options: Any) -> float:
    found = METRICS[name]().score(statistics(name, reference, hypothesis, **options).sum(axis=0))
    return float(found)


def recognised(rng: random.Random, words: Sequence[str], inserted: float) -> str:
    heard = []
    for word in words:
        chance = rng.random()
        if chance > 0.1:
            heard.append(word if chance > 0.3 else rng.choice("abcdef"))
        if rng.random() < inserted:
            heard.append(rng.choice("abcdef"))
    return " ".join(heard)


def pairs(count: int, inserted: float) -> tuple[list[str], list[str]]:
    rng = random.Random(count)
    spoken = [[rng.choice("abcdefgh") for _ in range(rng.randrange(24))] for _ in range(count)]
    heard = [recognised(rng, words, inserted) for words in spoken]
    return [" ".join(words) for words in spoken], heard


@pytest.mark.parametrize("inserted", [0.05, 0.4])
@pytest.mark.parametrize("name", RATES)
def test_rates_are_those_of_jiwer_and_kinds_of_errors_those_of_a_textbook(name, inserted):
    references, hypotheses = pairs(1000, inserted)
    rows = statistics(name, references, hypotheses)
    assert rate(name, references, hypotheses) == pytest.approx(
        100 * RATES[name](references, hypotheses), rel=1e-14
    )
    for row, reference, hypothesis in zip(rows, references, hypotheses, strict=True):
        a, b = (text.split() if name == "wer" else list(text) for text in (reference, hypothesis))
        kinds = textbook(a, b)
        hits = len(a) - kinds[0] - kinds[1]
        assert row[1:].tolist() == [len(a), *kinds, hits]
        if a:
            assert row[0] == round(RATES[name](reference, hypothesis) * len(a))


def test_lines_whose_rows_do_not_fit_are_aligned_in_blocks():
    rng = random.Random(3)
    spoken = [rng.choice("abcd") for _ in range(90)]
    heard = recognised(rng, spoken, 0.3)
    both = code_points([heard.replace(" ", "")]), code_points(["".join(spoken)])
    (row,), _ = align(*both, 64)
    assert row[2:5].tolist() == textbook(spoken, heard.split())
    assert row[0] == round(jiwer.wer(" ".join(spoken), heard) * 90)


@pytest.mark.parametrize(("name", "line"), [("wer", "a " * 100_001), ("cer", "a" * 100_001)])
def test_lines_that_are_too_long_to_be_aligned_are_refused(name, line):
    told = f"Line 2 of system 'x' is too long: .* are 10,000,200,001, and {name} aligns up to 10,"
    with pytest.raises(InputError, match=told) as e:
        compare(["a", line], {"y": ["a", "a"], "x": ["a", line]}, metrics=[name])
    assert (e.value.system, e.value.line) == ("x", 2)


def test_counts_of_several_training_runs_are_their_means():
    runs = [["a b x"], ["a b c d"]], [["a b c"], ["a b c"]]
    report = compare(["a b c"], dict(zip("xy", runs, strict=True)), metrics=["wer"])
    found = report.systems[0].scores["wer"].counts
    assert found == {
        "substitutions": 0.5, "deletions": 0, "insertions": 0.5, "hits": 2.5, "words": 3,
    }  # fmt: skip
    assert "0.5/0/0.5" in str(report)


def test_words_of_alignments_take_as_many_numbers_as_are_promised():
    texts = TestSet.of([["a b c d e f g", "", "h"]])
    words = METRICS["wer"]().words
    size = words.statistics(texts, System.of("A", ["a", "b", "c"])).size
    assert size <= words.numbers(texts) <= size + 2  # an empty line counts as one of one word
    assert words.signature(1) == METRICS["wer"](buffer=7).words.signature(1)


def test_the_kit_may_find_more_errors_and_its_rate_stands_beside_the_score():
    # five substitutions cost 20 there, three deletions and three insertions 18
    reference, hypotheses = ["a a a b b"], {"x": ["b b x x a"], "y": ["a a a b b"]}
    report = compare(reference, hypotheses, metrics=["wer"])
    x, y = (system.scores["wer"] for system in report.systems)
    assert x.score == 100 * jiwer.wer(reference, hypotheses["x"])
    names = ("substitutions", "deletions", "insertions")
    assert [x.counts[name] for name in names] == [0, 3, 3] == textbook("aaabb", "bbxxa")
    assert (x.score, x.counts["sclite"]) == (100, 120)
    assert y.counts == dict.fromkeys(names, 0) | {"hits": 5, "words": 5}
    assert {"sub/del/ins", "0/3/3", "sclite", "120.00"} <= set(str(report).split())


@pytest.mark.parametrize(
    ("reference", "hypothesis"),
    [
        (["", "a b"], ["x y", "a b"]),
        ([""], ["x y"]),
        (["a"], [""]),
        ([" a  b\t\tc "], ["a b c"]),
        (["a\tb c"], ["a b c"]),
        (["a\u00a0b"], ["a b"]),
        (["naïve 東京"], ["nai\u0308ve 東 京"]),
    ],
)
@pytest.mark.parametrize("name", RATES)
def test_empty_lines_and_odd_blanks_are_as_in_jiwer(name, reference, hypothesis):
    expected = pytest.approx(100 * RATES[name](reference, hypothesis), rel=1e-14)
    assert rate(name, reference, hypothesis) == expected


def test_words_heard_in_silence_are_insertions_of_the_whole():
    rows = statistics("wer", ["", "a b c"], ["x y", "a b c"])
    assert rows.sum(axis=0).tolist() == [2, 3, 0, 0, 2, 3]


@pytest.mark.parametrize(
    ("options", "transforms"),
    [
        ({"lowercase": True}, [jiwer.ToLowerCase()]),
        ({"no_punct": True}, [jiwer.RemovePunctuation()]),
        ({"lowercase": True, "no_punct": True}, [jiwer.ToLowerCase(), jiwer.RemovePunctuation()]),
    ],
)
def test_options_are_transforms_of_jiwer(options, transforms):
    reference, hypothesis = ["Well, it's «ÇA» - OK."], ["well it’s ça ok"]
    words = [jiwer.RemoveMultipleSpaces(), jiwer.Strip(), jiwer.ReduceToListOfListOfWords()]
    how = jiwer.Compose([*transforms, *words])
    expected = jiwer.wer(reference, hypothesis, reference_transform=how, hypothesis_transform=how)
    assert rate("wer", reference, hypothesis, **options) == pytest.approx(100 * expected)


def test_normalization_is_that_of_unicode_and_stands_in_the_signature():
    reference, hypothesis = ["é ﬁn"], [unicodedata.normalize("NFD", "é fin")]
    assert rate("wer", reference, hypothesis) == 100
    assert rate("wer", reference, hypothesis, normalize="NFC") == 50
    assert rate("wer", reference, hypothesis, normalize="NFKC") == 0
    assert "|normalize:NFKC|" in METRICS["wer"](normalize="NFKC").signature(1)


def test_several_transcripts_are_refused():
    with pytest.raises(InputError, match="wer takes one reference, and there are 2"):
        compare([["a"], ["b"]], {"x": ["a"], "y": ["b"]}, metrics=["wer"])


@pytest.mark.parametrize("options", [{"normalize": "nfx"}, {"buffer": 0}])
def test_options_outside_their_range_are_refused(options):
    with pytest.raises(RecipeError):
        METRICS["wer"](**options)


def test_the_lower_rate_wins():
    spoken = ["a b c d e"] * 40
    report = compare(spoken, {"bad": ["a b x d"] * 40, "good": spoken}, metrics=["wer"])
    assert report.pairs[0].winner(report.metrics["wer"].higher_is_better) == "good"
    assert report.pairs[0].significant
