"""TER's statistics are those of sacreBLEU 2.6, bit for bit.

sacreBLEU runs in the tests themselves, except on long segments, for which it needs seconds each;
the scores of whole systems come from the oracle tables (sacrebleu 2.6.0, options in each row).
Real data: see `data` in conftest.py.
"""

import itertools
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.ter import TER

from sigtest.compiled import COMPILED
from sigtest.data.testset import System, TestSet
from sigtest.data.text import Text, parse_lines
from sigtest.metrics.kernels import distances, edits
from sigtest.metrics.kernels.edits import corpus_edits
from sigtest.metrics.ter import Ter

OPTIONS = ("normalized", "no_punct", "asian_support", "case_sensitive")
CHOICES = [
    dict(zip(OPTIONS, choice, strict=True))
    for choice in itertools.product((False, True), repeat=len(OPTIONS))
]
SPACES = (" ", " ", "  ", "\t", "\r", "\f", "\x0b", "\x1c", "\x85", "\xa0", "\u2009", "\u2028")
SPACES += ("\u2029", "\u202f", "\u3000", "\u200b", "\ufeff")
WORDS = (
    *("a", "b", "A", "the", "dog's", "sotheby's,", "x's.", "it's)", "''s", "'s", "'S", "'"),
    *("&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "&amp;amp;quot;", "&#39;", "&", "AT&T"),
    *("3.14", "1,000.5", "..", "...", "1..2", "1...2", "a..1", "a...1", "a.b", "x.", ".5", "5."),
    *(".a", ",", ".,", "-", "5-6", "a-b", "-1", "1--", "3-.4", "3.-4", "(a)", '"q"', "?!", ";:"),
    *("[x]", "{y}", "~`^_", "a/b@c", "<b>", "İ", "ΣΑΣ", "ΑΣ", "Σ", "Straße", "ſ", "é", "e\u0301"),
    *("🙂", "👩\u200d💻", "𝟘", "½", "٣.٤", "हिन्दी", "한국어", "ไทย", "\U0010ffff", "－", "（）"),
    *(
        "中文",
        "字。",
        "「引」",
        "、",
        "ひらがな",
        "カタカナ",
        "ㇰ",
        "・",
        "！？",
        "．，",
        "㍿",
        "⺀",
    ),
    *("㇀", "﹏", "豈", "㈱", "㐀", "\u3f22", "\u3f23"),
)


CHARACTERS = st.characters(codec="utf-8", exclude_characters="\n\0")


def sacrebleu_rows(
    hypotheses: list[str], references: list[list[str | None]], **options: bool
) -> np.ndarray:
    """(n, 2) statistics of sacreBLEU itself."""
    rows = TER(**options)._extract_corpus_statistics(hypotheses, references)
    return np.array(rows, dtype=np.float64)


def own_rows(
    hypotheses: list[str], references: list[list[str | None]], **options: bool
) -> np.ndarray:
    """(n, 2) statistics of this package."""
    return Ter(**options).statistics(TestSet.of(references), System.of("system", hypotheses))


def edits_both_ways(hypotheses: list[str], references: list[str]) -> list[np.ndarray]:
    """Edits with matrices in bits where they apply, and without."""
    words = Ter().reference_words([Text(references)])
    own = words.numbers(Ter()._spans(hypotheses))
    return [corpus_edits(own, words.lines, bits) for bits in (True, False)]


def pair(rng: random.Random, longest: int) -> tuple[str, str]:
    """A hypothesis of few different words and a reference that shifts, mostly, lead to."""
    words = [str(rng.randrange(rng.choice((1, 2, 3, 5, 9, 40)))) for _ in range(longest)]
    hypothesis = words[: rng.randrange(longest + 1)]
    reference = list(hypothesis)
    for _ in range(rng.randrange(5)):
        a, b, c = sorted(rng.randrange(len(reference) + 1) for _ in range(3))
        reference[a:c] = reference[b:c] + reference[a:b]
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(reference) + 1)
        reference[at : at + rng.randrange(3)] = rng.choices(words, k=rng.randrange(3))
    if rng.random() < 0.2:
        reference = rng.choices(words, k=rng.randrange(longest + 1))
    if rng.random() < 0.1:
        reference = hypothesis[::-1]
    return " ".join(hypothesis), " ".join(reference)


def sentence(rng: random.Random, longest: int) -> str:
    """Difficult words between unusual spaces."""
    words = rng.choices(WORDS, k=rng.randrange(longest + 1))
    return "".join(rng.choice(SPACES) * (rng.random() < 0.9) + word for word in words) + rng.choice(
        ("", "", " ", "\t", "\u3000")
    )


# Made by `long_pair`; edits by sacrebleu 2.6.0, `TER()._extract_corpus_statistics`.
LONG = {
    "same 500 500": 0,
    "reversed 150 150": 149,
    "reversed 500 500": 499,
    "halves 300 300": 300,
    "halves 64 64": 64,
    "blocks 62 62": 29,
    "blocks 63 63": 13,
    "blocks 200 200": 10,
    "blocks 400 380": 76,
    "few 90 100": 39,
    "few 150 150": 48,
    "few 250 200": 94,
    "thinned 300 180": 120,
    "thinned 200 150": 50,
    "same 3 200": 200,
    "same 2 180": 180,
    "same 200 4": 196,
    "reversed 30 400": 399,
    "reversed 150 90": 149,
}


def long_pair(name: str) -> tuple[str, str]:
    """A long segment by the name of its kind and the lengths of its sides."""
    kind, n, m = name.split()
    rng = random.Random(name)
    words = [str(i) for i in range(max(int(n), int(m)))]
    if kind == "few":
        words = [str(rng.randrange(4)) for _ in words]
    hypothesis, reference = words[: int(n)], words[: int(m)]
    if kind == "reversed":
        reference = reference[::-1]
    if kind in ("blocks", "few"):
        for _ in range(6):
            a = rng.randrange(int(m) - 30)
            reference[a : a + 30] = reference[a + 12 : a + 30] + reference[a : a + 12]
    if kind == "halves":
        reference = reference[int(m) // 2 :] + reference[: int(m) // 2]
    if kind == "thinned":
        reference = sorted(rng.sample(words, int(m)), key=int)
    return " ".join(hypothesis), " ".join(reference)


# Of the first pairs of this length; by sacrebleu 2.6.0, `TER()._extract_corpus_statistics`.
EDITS = {
    35: [
        *(9, 20, 3, 5, 9, 1, 2, 22, 0, 1, 10, 9, 3, 29, 4, 4, 19, 4, 3, 4, 0, 17, 0, 18, 3, 5),
        *(12, 3, 8, 4, 4, 6, 0, 1, 19, 7, 8, 6, 7, 16, 5, 8, 0, 3, 31, 6, 1, 1, 8, 8, 1, 4, 3),
        *(9, 1, 8, 2, 4, 3, 25),
    ],
    60: [23, 13, 7, 31, 8, 3, 33, 11, 37, 5, 4, 1],
}
QUICK = 5  # of these, for which sacreBLEU runs


@pytest.mark.parametrize("longest", EDITS)
def test_edits_of_long_lines_equal_sacrebleu(longest):
    rng = random.Random(longest)
    hypotheses, references = zip(*(pair(rng, longest) for _ in EDITS[longest]), strict=True)
    for way in edits_both_ways(list(hypotheses), list(references)):
        np.testing.assert_array_equal(way, EDITS[longest])


def test_edits_of_long_lines_are_those_that_sacrebleu_gives():
    rng = random.Random(35)
    hypotheses, references = zip(*(pair(rng, 35) for _ in range(QUICK)), strict=True)
    rows = sacrebleu_rows(list(hypotheses), [list(references)])
    assert rows[:, 0].tolist() == EDITS[35][:QUICK]


@pytest.mark.parametrize(("count", "longest"), [(1000, 10), (100, 20)])
def test_edits_equal_sacrebleu_where_many_shifts_are_possible(count, longest):
    rng = random.Random(longest)
    hypotheses, references = zip(*(pair(rng, longest) for _ in range(count)), strict=True)
    expected = sacrebleu_rows(list(hypotheses), [list(references)])[:, 0]
    in_bits, in_cells = edits_both_ways(list(hypotheses), list(references))
    np.testing.assert_array_equal(in_bits, expected)
    np.testing.assert_array_equal(in_cells, expected)


@pytest.mark.parametrize("name", LONG)
def test_long_segments_equal_sacrebleu(name):
    hypothesis, reference = long_pair(name)
    assert [int(way[0]) for way in edits_both_ways([hypothesis], [reference])] == [LONG[name]] * 2


def test_bits_and_cells_agree_on_lengths_around_those_of_a_word_of_the_machine():
    rng = random.Random(3)
    hypotheses, references = zip(*(pair(rng, 70) for _ in range(400)), strict=True)
    in_bits, in_cells = edits_both_ways(list(hypotheses), list(references))
    np.testing.assert_array_equal(in_bits, in_cells)


@pytest.mark.parametrize("options", CHOICES, ids=lambda options: Ter(**options).spelling)
def test_words_equal_sacrebleu_for_all_options(options):
    rng = random.Random(5)
    lines = [*WORDS, *(sentence(rng, 12) for _ in range(60)), "", " ", "\u3000"]
    program, tokenizer = TER(**options), Ter(**options)
    expected = [program._preprocess_segment(line).split() for line in lines]
    assert [line.split() for line in tokenizer.clean(lines)] == expected
    words = tokenizer.reference_words([Text(lines)])
    lengths = [len(entry["ref_words"][0]) for entry in program._cache_references([lines])]
    assert words.lengths[:, 0].tolist() == lengths


@pytest.mark.parametrize("options", CHOICES, ids=lambda options: Ter(**options).spelling)
def test_statistics_equal_sacrebleu_for_all_options(options):
    rng = random.Random(7)
    hypotheses = [sentence(rng, 7) for _ in range(150)]
    references: list[list[str | None]] = [
        [sentence(rng, 7) if rng.random() < 0.3 else line for line in hypotheses],
        [sentence(rng, 7) if rng.random() < 0.6 else None for _ in hypotheses],
        [rng.choice(("", None, line)) for line in hypotheses],
    ]
    for texts in (references, references[:1]):
        expected = sacrebleu_rows(hypotheses, texts, **options)
        np.testing.assert_array_equal(own_rows(hypotheses, texts, **options), expected)


def test_references_are_normalized_twice_as_in_sacrebleu():
    line = "Sotheby's, 1..2 &amp;lt; x"
    assert own_rows([line], [[line]], normalized=True)[0].tolist() != [0, 9]
    expected = sacrebleu_rows([line], [[line]], normalized=True)
    np.testing.assert_array_equal(own_rows([line], [[line]], normalized=True), expected)


def test_lower_case_is_idempotent_so_that_once_is_enough_without_normalization():
    every = [chr(point) for point in range(0x110000)]
    assert [
        character for character in every if character.lower().lower() != character.lower()
    ] == []


@settings(max_examples=80)
@given(
    st.lists(
        st.tuples(*[st.lists(st.sampled_from("abcdeé中"), max_size=14).map(" ".join)] * 3),
        min_size=1,
        max_size=8,
    ),
    st.lists(st.booleans(), min_size=8, max_size=8),
)
def test_any_segments_equal_sacrebleu(segments, given_twice):
    hypotheses = [segment[0] for segment in segments]
    references: list[list[str | None]] = [
        [segment[1] for segment in segments],
        [s[2] if two else None for s, two in zip(segments, given_twice, strict=False)],
    ]
    expected = sacrebleu_rows(hypotheses, references)
    np.testing.assert_array_equal(own_rows(hypotheses, references), expected)


@settings(max_examples=100)
@given(
    st.lists(
        st.one_of(st.sampled_from(SPACES + WORDS), st.text(CHARACTERS, max_size=4)), max_size=12
    ),
    st.sampled_from(CHOICES),
)
def test_any_line_is_cut_as_in_sacrebleu(pieces, options):
    lines = ["".join(pieces), "a", "".join(reversed(pieces))]
    expected = [TER(**options)._preprocess_segment(line).split() for line in lines]
    assert [line.split() for line in Ter(**options).clean(lines)] == expected


def test_a_text_is_cut_once():
    references = [Text(["a b", "c"]), Text(["a", None])]
    assert Ter().reference_words(references) is Ter().reference_words(references)
    assert Ter().reference_words(references) is not Ter(normalized=True).reference_words(references)


@pytest.mark.skipif(not COMPILED, reason="without numba nothing is compiled")
def test_kernels_are_compiled_for_one_signature():
    own_rows(["a b c", "d"], [["c a b", "d e"], ["x", None]])
    own_rows(["a " * 80], [["b a " * 40]])
    kernels = [k for module in (edits, distances) for k in vars(module).values()]
    # while types are inferred a first value counts as a type of its own
    signatures = [
        len({str(s).replace("Literal[int](0)", "int64") for s in k.signatures})
        for k in kernels
        if hasattr(k, "signatures")
    ]
    assert len(signatures) > 12
    assert set(signatures) <= {0, 1}  # 0: compiled as part of its caller in an earlier run


PLAIN = """
import random
from tests.sigtest.metrics.test_edits import *
assert not COMPILED
rng = random.Random(11)
hypotheses, references = zip(*(pair(rng, 9) for _ in range(60)))
hypotheses, references = [*hypotheses, "a b " * 13, "a"], [*references, "b a c " * 10, "b " * 70]
expected = sacrebleu_rows(hypotheses, [references])
np.testing.assert_array_equal(own_rows(hypotheses, [references]), expected)
for way in edits_both_ways(hypotheses, references):
    np.testing.assert_array_equal(way, expected[:, 0])
"""


def test_plain_python_gives_the_same():
    root = Path(__file__).parents[3]
    subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", PLAIN],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(root)},
        cwd=root,
        check=True,
    )


@pytest.mark.parametrize(
    ("corpus", "references"),
    [
        pytest.param("wmt12.es-en", {"reference.en": ["reference.en"]}, marks=pytest.mark.slow),
        (
            "wmt22.cs-en",
            {
                "B": ["reference.B.en"],
                "C": ["reference.C.en"],
                "B+C": ["reference.B.en", "reference.C.en"],
            },
        ),
    ],
)
def test_whole_systems_equal_the_oracle(data, oracles, corpus, references):
    testsets = {
        key: TestSet.of([parse_lines((data / corpus / f).read_bytes(), f) for f in files])
        for key, files in references.items()
    }
    table = (oracles / f"metrics.{corpus}.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in table if "\tsacrebleu_TER" in line]
    systems = {
        name: System.of(name, parse_lines(path.read_bytes(), name))
        for name in {row[1] for row in rows}
        for path in (data / corpus / "systems").glob(f"{name}.*")
    }
    assert len(rows) in (24, 33)
    for _, name, key, metric, score, _, _, detail, *_ in rows:
        ter = Ter(normalized=metric == "sacrebleu_TER_normalized")
        sums = ter.statistics(testsets[key], systems[name]).sum(axis=0)
        counts = json.loads(detail)
        assert sums.tolist() == [counts["num_edits"], counts["ref_length"]]
        assert ter.score(sums) == pytest.approx(float(score), abs=1e-9)
