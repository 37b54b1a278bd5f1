"""BLEU's and chrF's statistics are those of sacreBLEU 2.6, bit for bit.

sacreBLEU runs in the tests themselves; the scores of whole systems come from the oracle tables
(sacrebleu 2.6.0, options in each row). Real data: see `data` in conftest.py.
"""

import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.tokenizers.tokenizer_intl import TokenizerV14International
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

from sigtest.data.testset import System, TestSet
from sigtest.data.text import Text, parse_lines
from sigtest.metrics import METRICS, bleu
from sigtest.metrics.bleu import Bleu
from sigtest.metrics.chrf import Chrf, ChrfPlusPlus
from sigtest.metrics.kernels import tokens
from sigtest.metrics.kernels.ngrams import index_ngrams, match_ngrams
from sigtest.metrics.kernels.tokens import WHITE_SPACE, Sequences, Tokenizer, boundaries

TOKENIZERS = ("13a", "intl", "none", "char", "zh")

# Letters, digits and marks that rules look at, twice as likely as the rest of Unicode.
DENSE = "aAbİΣς01٣½.,-–—…&;<>'\"!¿$€+=~`^_()[]{}/@:%*#|\\"
SPACES = "".join(map(chr, WHITE_SPACE))
RARE = "é\u0301\u200d\u00ad\ufeff\u200b中文字。,、「」𠀀〇한국어ไทยहिन्दी🙂👩🏽‍🚀𝟘²Ⅷ٫٬؟。\U0010ffff"
PIECES = ("&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "&#39;", "<skipped>", "-\n", "\n", "\r\n")

# One line each, between bars.
MARKS = (
    "|.|..|...|....|,|-|1-|-1|1-2|a-b|1.|.1|1.2|1..2|1...2|a..1|a...1|1.a|a.1|1,000.5|5. |5.\u2009"
    "| .5|\u3000.5|.5\u3000|3.-4|3-.4|a,,b|1,,2|1,.2|&.1|1.&|1.(2)|(hi)|((|()|(|a(|(a|!?|don't|"
)
MARKUP = (
    "<skipped>|<skip<skipped>ped>|a<skipped>-\nb|a-\nb|a- \nb|a-\n|\n|-\n|-\n |a&amp;quot;b"
    "|&|&lt;&gt;|&amp;amp;lt;|&QUOT;| "
)
SCRIPTS = (
    "ΑΣ|ΑΣ.|Σ|İstanbul|ǅ|ß|中文。测试|“quoted”|۱.۲|½.½|Ⅷ.Ⅷ|²,²|¿Qué?|$5.00|5€|a+b=c|—|…1|1…|1…1|‘’"
    "|a\u2028b|a\u2029.1|1\x0b.2|1.\x1c|\x85.|\xa0,\xa0|🙂🙂|👩🏽‍🚀.|e\u0301.|\u0301|\ufeffBOM"
    "|zero\u200bwidth|soft\u00adhyphen"
)
FIXED = (
    *MARKS.split("|"),
    *MARKUP.split("|"),
    *SCRIPTS.split("|"),
    *("a" * 40, "ab " * 60, "a " * 500, "x. " * 500),
)


def lines() -> st.SearchStrategy[str]:
    piece = st.one_of(
        st.sampled_from(DENSE),
        st.sampled_from(DENSE),
        st.sampled_from(SPACES),
        st.sampled_from(RARE),
        st.sampled_from(PIECES),
        st.characters(exclude_categories=["Cs"]),
    )
    return st.lists(piece, max_size=14).map("".join)


def noise(seed: int, count: int, alphabet: str, longest: int = 30) -> Iterator[str]:
    """Lines of characters drawn at random, the first of the alphabet more often than the last."""
    rng = np.random.default_rng(seed)
    for length in rng.integers(0, longest, size=count):
        drawn = (rng.random(length) ** 2 * len(alphabet)).astype(int)
        yield "".join(alphabet[i] for i in drawn)


def neighbours(texts: list[str]) -> list[str]:
    """Other lines with much in common: each starts like one line and ends like the next."""
    pairs = zip(texts, texts[1:] + texts[:1], strict=True)
    return [a[: len(a) * 2 // 3] + b[len(b) // 3 :] for a, b in pairs]


CORPUS = [
    *FIXED,
    *noise(1, 150, DENSE + SPACES),
    *noise(2, 150, ".1a,-& " + RARE),
    *noise(3, 100, "ab ", longest=80),
]


def require_equal(
    metric: Bleu | Chrf, references: list[list[str | None]], texts: list[str]
) -> None:
    # Not by `of`, which refuses line breaks: these functions do not rely on that.
    testset = TestSet(len(texts), tuple(Text(reference) for reference in references))
    system = System("s", Text(texts))
    program: Any = metric.reference_program
    expected = np.array(program._extract_corpus_statistics(texts, references), np.float64)
    found = metric.statistics(testset, system)
    assert found.dtype == np.float64
    wrong = np.flatnonzero((found != expected).any(axis=1))
    assert not wrong.size, [(texts[i], [r[i] for r in references]) for i in wrong[:3]]


def with_gaps(texts: list[str], seed: int) -> list[list[str | None]]:
    """Three reference sets, of which about a third of the lines is missing, never all of one."""
    rng = np.random.default_rng(seed)
    sets: list[list[str | None]] = [list(texts), list(neighbours(texts)), list(texts[::-1])]
    for i in range(len(texts)):
        for j in rng.choice(3, size=rng.integers(3), replace=False):
            sets[j][i] = None
    return sets


def test_white_space_is_what_python_splits_at():
    assert tuple(i for i in range(0x110000) if chr(i).isspace()) == WHITE_SPACE


def test_kinds_of_13a_are_those_of_its_expressions():
    alone, before, after, dash = (rule for rule, _ in TokenizerRegexp()._re)
    assert [p.pattern for p in (before, after)] == [r"([^0-9])([\.,])", r"([\.,])([^0-9])"]
    assert dash.pattern == r"([0-9])(-)"
    every = "".join(map(chr, range(0x110000)))
    expected = {ord(c) for c in alone.findall(every)} - set(WHITE_SPACE)
    assert set(np.flatnonzero(tokens.kinds_of("13a") == tokens.ALONE)) == expected


def test_kinds_of_intl_are_those_of_its_expressions():
    patterns = [rule.pattern for rule, _ in TokenizerV14International()._re]
    assert patterns == [r"(\P{N})(\p{P})", r"(\p{P})(\P{N})", r"(\p{S})"]
    kinds = tokens.kinds_of("intl")
    every = "".join(map(chr, range(0x110000)))
    for kind, name in ((tokens.MARK, "P"), (tokens.DIGIT, "N"), (tokens.ALONE, "S")):
        members = {ord(c) for c in regex.findall(rf"\p{{{name}}}", every)}
        assert set(np.flatnonzero(kinds == kind)) == members


def test_chinese_characters_are_those_of_sacrebleu():
    # Called without its cache, which has as many entries as there are characters here.
    is_chinese = TokenizerZh._is_chinese_char.__wrapped__
    points = [*range(0x10000), *range(0x10000, 0x110000, 97), 0x20000, 0x2F800, 0x2FA1D]
    kinds = tokens.kinds_of("zh")
    ascii_alone = {i for i in range(128) if kinds[i] == tokens.ALONE}
    expected = {i for i in points if is_chinese(chr(i)) and i not in WHITE_SPACE} | ascii_alone
    assert {i for i in points if kinds[i] == tokens.ALONE} == expected


def test_chrf_marks_are_those_of_sacrebleu():
    assert set(tokens._PUNCTUATION.decode()) == CHRF._PUNCTS == set(string.punctuation)


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("tokenize", TOKENIZERS)
def test_bleu_tokens_are_those_of_sacrebleu(tokenize, lowercase):
    program = BLEU(tokenize=tokenize, lowercase=lowercase, force=True)
    spans = Tokenizer(tokenize, lowercase).spans(CORPUS)
    words = [
        "".join(map(chr, spans.points[begin:end]))
        for begin, end in zip(spans.begins, spans.ends, strict=True)
    ]
    for i, line in enumerate(CORPUS):
        expected = program._preprocess_segment(line).split()
        assert words[spans.starts[i] : spans.starts[i + 1]] == expected, repr(line)


@pytest.mark.parametrize("tokenize", TOKENIZERS)
@given(batch=st.lists(st.tuples(lines(), lines()), min_size=1, max_size=20))
@settings(max_examples=15)
def test_bleu_statistics_of_any_text(tokenize, batch):
    texts = [a + b for a, b in batch]
    require_equal(Bleu(tokenize=tokenize), [[b + a for a, b in batch]], texts)


@given(batch=st.lists(st.tuples(lines(), lines(), lines()), min_size=1, max_size=20))
@settings(max_examples=25)
def test_chrf_statistics_of_any_text(batch):
    texts = [a + b for a, b, _ in batch]
    references: list[list[str | None]] = [
        [b + a for a, b, _ in batch],
        [c + b for _, b, c in batch],
    ]
    for metric in (Chrf(), ChrfPlusPlus(), ChrfPlusPlus(lowercase=True, whitespace=True)):
        require_equal(metric, references, texts)


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("tokenize", TOKENIZERS)
def test_bleu_statistics_with_missing_references(tokenize, lowercase):
    require_equal(Bleu(lowercase, tokenize), with_gaps(CORPUS, 4), neighbours(CORPUS))


@pytest.mark.parametrize("order", [1, 2, 3, 5, 9])
def test_bleu_statistics_of_other_orders(order):
    require_equal(Bleu(max_ngram_order=order), with_gaps(CORPUS, 5), neighbours(CORPUS))


@pytest.mark.parametrize(
    "metric",
    [
        Chrf(),
        Chrf(char_order=1),
        Chrf(char_order=10, whitespace=True),
        Chrf(beta=1, lowercase=True, eps_smoothing=True),
        ChrfPlusPlus(),
        ChrfPlusPlus(lowercase=True),
        ChrfPlusPlus(whitespace=True, eps_smoothing=True),
        ChrfPlusPlus(char_order=3, word_order=5, beta=3),
    ],
    ids=lambda metric: metric.spelling,
)
def test_chrf_statistics_with_missing_references(metric):
    require_equal(metric, with_gaps(CORPUS, 6), neighbours(CORPUS))


def test_first_of_equally_good_references_is_taken():
    # Both references give chrF 0 but have different lengths.
    require_equal(Chrf(), [["xyz", ""], ["uvwxyz", "ab"]], ["abc", "abc"])
    require_equal(Chrf(), [["", "ab"], ["xyz", ""]], ["abc", "abc"])


def test_very_long_segments_are_counted_in_wider_tables():
    long = "".join(noise(7, 1, "abc ", longest=2)) + "abc abd ab. " * 3500
    require_equal(Bleu(), [[long, "a"]], [long[5:], "a"])
    require_equal(ChrfPlusPlus(), [[long, "a"]], [long[7:20000], "a"])


def test_other_tokenizers_are_left_to_sacrebleu(monkeypatch):
    assert set(bleu.FAST) == set(tokens.TOKENIZERS) & set(BLEU.TOKENIZERS)
    monkeypatch.setattr(bleu, "FAST", ())
    require_equal(Bleu(), [["a b, c."]], ["a b, d."])


def test_nothing_is_derived_twice(monkeypatch):
    testset, system = TestSet.of([["a b c", "d e"]]), System.of("s", ["a b d", "d e"])
    first = [METRICS[name]().statistics(testset, system) for name in ("bleu", "chrf++", "nist")]
    cut: list[str] = []
    spans = Tokenizer.spans
    monkeypatch.setattr(
        Tokenizer, "spans", lambda self, texts: cut.append(self.name) or spans(self, texts)
    )
    again = [METRICS[name]().statistics(testset, system) for name in ("bleu", "chrf++", "nist")]
    assert not cut
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    METRICS["bleu"]().statistics(testset, System.of("t", ["a", "b"]))
    assert cut == ["13a"]


def test_matches_of_integers_are_clipped_counts():
    rng = np.random.default_rng(8)
    given_, wanted = rng.integers(0, 3, size=(2, 200, 25)).astype(np.int32)
    starts = boundaries(np.full(200, 25))
    index = index_ngrams(Sequences(wanted.ravel(), starts), 4)
    found, _ = match_ngrams(Sequences(given_.ravel(), starts), index)
    for s in range(200):
        for n in range(1, 5):
            own, other = (
                [tuple(row[i : i + n]) for i in range(26 - n)] for row in (given_[s], wanted[s])
            )
            expected = sum(min(own.count(ngram), other.count(ngram)) for ngram in set(own))
            assert found[s, n - 1] == expected


FILES = {
    "B": ("reference.B.en",),
    "C": ("reference.C.en",),
    "B+C": ("reference.B.en", "reference.C.en"),
}


def read(path: Path) -> tuple[str, ...]:
    return parse_lines(path.read_bytes(), path.name)


def system_file(folder: Path, name: str) -> Path:
    return next(path for path in (folder / "systems").iterdir() if path.stem == name)


@pytest.mark.parametrize(
    "task", [pytest.param("wmt12.es-en", marks=pytest.mark.slow), "wmt22.cs-en"]
)
def test_scores_of_all_systems_are_those_of_sacrebleu(data, oracles, task):
    metrics = {
        "sacrebleu_BLEU_13a": Bleu(),
        "sacrebleu_chrF": Chrf(),
        "sacrebleu_chrF++": ChrfPlusPlus(),
    }
    testsets: dict[str, TestSet] = {}
    systems: dict[str, System] = {}
    compared = 0
    for line in (oracles / f"metrics.{task}.tsv").read_text().splitlines():
        if line.startswith("#"):
            continue
        _, name, reference, metric, value, *_ = line.split("\t")
        if metric not in metrics:
            continue
        if reference not in testsets:
            files = FILES.get(reference, (reference,))
            testsets[reference] = TestSet.of([read(data / task / file) for file in files])
        if name not in systems:
            systems[name] = System.of(name, read(system_file(data / task, name)))
        chosen = metrics[metric]
        sums = chosen.statistics(testsets[reference], systems[name]).sum(axis=0)
        assert float(chosen.score(sums)) == pytest.approx(float(value), abs=1e-9), line
        compared += 1
    assert compared >= 36


@pytest.mark.parametrize(
    "task", [pytest.param("wmt13.en-ru", marks=pytest.mark.slow), "flores21.bn-hi"]
)
def test_statistics_of_all_systems_are_those_of_sacrebleu(data, task):
    (reference,) = (data / task).glob("reference.*")
    every = 20
    references: list[list[str | None]] = [list(read(reference)[::every])]
    for path in sorted((data / task / "systems").iterdir()):
        for metric in (Bleu(), Bleu(tokenize="intl"), Chrf(), ChrfPlusPlus()):
            require_equal(metric, references, list(read(path)[::every]))


@pytest.mark.parametrize(
    "task", [pytest.param("wmt13.en-ru", marks=pytest.mark.slow), "flores21.bn-hi"]
)
def test_scores_of_whole_systems_are_the_golden_ones(data, task):
    (reference,) = (data / task).glob("reference.*")
    testset = TestSet.of([read(reference)])
    golden = (Path(__file__).parents[2] / "golden" / "sacrebleu.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in golden if line.startswith(task)]
    assert len(rows) == len(list((data / task / "systems").iterdir()))
    for _, name, *scores in rows:
        system = System.of(name, read(system_file(data / task, name)))
        for metric, score in zip((Bleu(), Chrf(), ChrfPlusPlus()), scores, strict=True):
            sums = metric.statistics(testset, system).sum(axis=0)
            assert float(metric.score(sums)) == pytest.approx(float(score), abs=1e-9)


@pytest.mark.parametrize("name", ["bleu", "chrf", "chrf++", "ter"])
def test_scores_of_a_few_lines_are_those_of_sacrebleu(name):
    """Outputs are shorter than references, so that precision and recall differ."""
    references = ["the cat sat on the old mat", "it rained all day and all night", "we left early"]
    outputs = ["the cat sat on a mat", "it rained day and night", "we left"]
    metric = METRICS[name]()
    table = metric.statistics(TestSet.of([references]), System.of("a", outputs))
    program = metric.reference_program  # type: ignore[attr-defined]
    expected = program.corpus_score(outputs, [references]).score
    assert metric.score(table.sum(axis=0)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["bleu", "chrf", "chrf++", "nist", "ter"])
@pytest.mark.parametrize("order", [1, -1])
def test_a_text_that_is_a_reference_here_and_an_output_there_is_not_mistaken(name, order):
    metric = METRICS[name]()

    def rows(x: Text, y: Text, is_reference: bool) -> list[list[float]]:
        references, output = ((x, y), Text(["cats sit", "rain"])) if is_reference else ((y,), x)
        return metric.statistics(TestSet(2, references), System("A", output)).tolist()

    lines = ["the cat sat down", "it rains today"], ["a cat sat", "it rains"]
    once = tuple(map(Text, lines))
    for is_reference in (True, False)[::order]:
        assert rows(*once, is_reference) == rows(*map(Text, lines), is_reference)
