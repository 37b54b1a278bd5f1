"""The matched-pairs test: against the state machine of NIST's kit, followed step by step."""

import random
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm, ttest_1samp

from sigtest import RecipeError, compare, suite
from sigtest.data.testset import System, TestSet
from sigtest.metrics.kernels.alignment import stretches
from sigtest.metrics.wer import Wer

BOTH = ["approximate_randomization", "matched_pairs"]
Steps = list[str]  # C, S, D, I: what an alignment does, step by step


def path(words: Any) -> list[Steps]:
    """The steps of each line's alignment, as sclite writes them; a substitution is no deletion."""
    paths: list[Steps] = [[]]
    for inserted, state in words:
        paths[-1] += ["I"] * int(inserted)
        if state == 3:
            paths.append([])
        else:
            paths[-1].append("S" if state else "C")
    return paths[:-1]


def segments(one: Steps, two: Steps, least: int) -> list[tuple[int, int]]:  # noqa: C901
    """`test_comp_sents` of `mtchprs.c` (2007 and later) for references without alternatives."""
    found, state, good = [], "b", 0
    i = j = end_i = end_j = 0

    def count(to_i: int, to_j: int) -> None:
        errors = tuple(
            sum(step != "C" for step in steps[max(0, begin - least + 1) : to + 1])
            for steps, begin, to in ((one, end_i, to_i), (two, end_j, to_j))
        )
        if any(errors):
            found.append(errors)

    while i < len(one):
        while i < len(one) and one[i] == "I":
            i, state = i + 1, "e"
        while j < len(two) and two[j] == "I":
            j, state = j + 1, "e"
        right = i < len(one) and j < len(two) and one[i] == two[j] == "C"
        if state == "b":
            if right:
                end_i, end_j = i, j
            else:
                state = "e"
        elif right:
            good = 1 if state == "e" else good + 1
            state = "g"
            if good == least:
                count(i, j)
                end_i, end_j, state = i, j, "b"
        else:
            state = "e"
        i, j = min(i + 1, len(one)), min(j + 1, len(two))
    if state != "b" or j < len(two):
        count(len(one) - 1, len(two) - 1)
    return found


def heard(rng: random.Random, words: list[str], errors: float) -> str:
    out = []
    for word in words:
        if rng.random() < errors / 2:
            out.append(rng.choice("uvw"))
        if rng.random() > errors / 3:
            out.append(word if rng.random() > errors else rng.choice("xyz"))
    return " ".join([*out, *(["u"] if rng.random() < errors else [])])


def spoken(seed: int, lines: int, errors: float) -> tuple[list[str], list[str], list[str]]:
    rng = random.Random(seed)
    said = [[rng.choice("abcdef") for _ in range(rng.randrange(12))] for _ in range(lines)]
    a, b = ([heard(rng, words, errors) for words in said] for _ in "ab")
    return [" ".join(words) for words in said], a, b


def words_of(reference: list[str], *systems: list[str], **options: Any) -> list[Any]:
    texts = TestSet.of([reference])
    return [Wer(**options).words.statistics(texts, System.of("A", own)) for own in systems]


@pytest.mark.parametrize("least", [1, 2, 3])
@pytest.mark.parametrize("errors", [0.1, 0.4])
def test_stretches_are_those_of_the_kit(errors, least):
    reference, a, b = spoken(least, 400, errors)
    one, two = words_of(reference, a, b)
    expected = [
        errors
        for own, other in zip(path(one), path(two), strict=True)
        for errors in segments(own, other, least)
    ]
    assert stretches(one, two, least).tolist() == [list(errors) for errors in expected]
    assert sum(own for own, _ in expected) == one[:, 0].sum() + (one[:, 1] % 3 > 0).sum()


@pytest.mark.parametrize(
    ("alternative", "tail"),
    [
        ("two-sided", lambda z: 2 * norm.sf(abs(z))),
        ("greater", norm.cdf),  # fewer errors of a: z below zero
        ("less", norm.sf),
    ],
)
def test_p_is_that_of_a_normal_mean_and_stands_beside_randomization(alternative, tail):
    reference, a, b = spoken(5, 300, 0.2)
    b[:40] = reference[:40]
    report = compare(
        reference, {"a": a, "b": b}, metrics=["wer"], tests=BOTH, alternative=alternative
    )
    other, own = (next(p for p in report.pairs if p.test == test and p.a == "a") for test in BOTH)
    errors = stretches(*words_of(reference, a, b), 2)
    z = ttest_1samp(errors[:, 0] - errors[:, 1], 0).statistic
    assert (own.stretches, own.z) == (len(errors), pytest.approx(z, rel=1e-12))
    assert own.p_value == pytest.approx(tail(z), rel=1e-10)
    assert (other.stretches, other.z) == (None, None)
    shown = " ".join(str(report).split())
    for told in (f" {len(errors)} {z:+.3f} ", "Gillick and Cox, 1989", "a stretch between words"):
        assert told in shown


def test_systems_without_a_difference_have_p_1():
    reference = ["a b c d"] * 3
    for b in (["a b c d"] * 3, ["x b c d"] * 3, ["a b c"] * 3):
        report = compare(
            reference, {"a": ["x b c d"] * 3, "b": b}, metrics=["wer"], tests=["matched_pairs"]
        )
        assert (report.pairs[0].p_value, report.pairs[0].z) == (1, 0)


def test_a_mean_of_0_with_variance_is_in_the_middle():
    reference = ["a b c d"] * 2
    systems = {"a": ["x b c d", "a b c d"], "b": ["a b c d", "x b c d"]}
    for alternative, p in (("two-sided", 1), ("greater", 0.5), ("less", 0.5)):
        report = compare(reference, systems, metrics=["wer"], tests=["matched_pairs"],
                         alternative=alternative)  # fmt: skip
        assert [own.p_value for own in report.pairs] == pytest.approx([p] * len(report.pairs))
        assert {own.z for own in report.pairs} == {0}


@pytest.mark.parametrize(("count", "calibrated"), [(49, False), (50, True)])
def test_few_stretches_are_not_calibrated(count, calibrated):
    reference = ["a b c d"] * 200
    a = ["x b c d"] * count + reference[count:]
    report = compare(reference, {"a": a, "b": reference}, metrics=["wer"], tests=["matched_pairs"])
    assert (report.pairs[0].stretches, report.pairs[0].calibrated) == (count, calibrated)


def test_stretches_of_known_speakers_are_not_calibrated():
    reference = ["a b c d"] * 120
    systems = {"a": ["x b c d"] * 30 + reference[30:], "b": ["a b c x"] * 60 + reference[60:]}
    documents = [f"speaker {i // 10}" for i in range(120)]
    choices = ({}, {"documents": documents, "unit": "document"},
               {"documents": documents, "unit": "segment"})  # fmt: skip
    for chosen, calibrated in zip(choices, (True, False, False), strict=True):
        report = compare(reference, systems, metrics=["wer"], tests=["matched_pairs"], **chosen)
        assert [pair.calibrated for pair in report.pairs] == [calibrated]


KIT = Path("/usr/lib/sctk/bin")  # where Debian's package puts it


@pytest.mark.skipif(not KIT.is_dir(), reason="NIST's scoring kit is not here (Debian: sctk)")
@pytest.mark.parametrize("errors", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("lines", [20, 100])
def test_the_kit_itself_says_the_same(lines, errors, tmp_path):
    texts = dict(zip(("ref", "a", "b"), spoken(lines, lines, errors), strict=True))
    texts["ref"] = [line or "a" for line in texts["ref"]]
    for name, own in texts.items():
        said = (f"{line} (s{i // 5}-{i:03})\n" for i, line in enumerate(own))
        (tmp_path / f"{name}.trn").write_text("".join(said))
    scored = subprocess.run(
        [KIT / "sclite", "-s", "-i", "swb", "-r", "ref.trn", "trn", "-h", "a.trn", "trn", "a",
         "-h", "b.trn", "trn", "b", "-o", "sgml", "stdout"],
        cwd=tmp_path, capture_output=True, check=True,
    ).stdout  # fmt: skip
    told, unified = (
        subprocess.run(
            [KIT / "sc_stats", "-p", "-t", "mapsswe", flag, "-n", "-"],
            cwd=tmp_path, input=scored, capture_output=True, check=True,
        ).stdout.decode("latin-1")
        for flag in ("-v", "-u")
    )  # fmt: skip
    found = re.search(r"# segs: (\d+)\).*Z Stat: (\S+)\)", told)
    totals = re.search(r"Totals\s+\d+\s+(\d+)\s+(\d+)", told)
    printed = re.search(r"MP\s+\|\|\s+a\s.*?(<?)(0\.\d+|1\.000)", unified)
    assert found is not None
    assert totals is not None
    assert printed is not None
    report = compare(texts["ref"], {"a": texts["a"], "b": texts["b"]}, metrics=["wer"],
                     tests=["matched_pairs"])  # fmt: skip
    pair = report.pairs[0]
    assert (pair.stretches, pair.z) == (int(found[1]), pytest.approx(float(found[2]), abs=0.0006))
    cut = 2 * norm.sf(int(abs(pair.z) * 100) / 100)  # as the kit looks p up
    assert cut < 0.001 if printed[1] else cut == pytest.approx(float(printed[2]), abs=0.0006)
    for system, errors_of in zip(report.systems, totals.groups(), strict=True):
        counts = system.scores["wer"].counts
        kinds = ("substitutions", "deletions", "insertions")
        assert sum(counts[kind] for kind in kinds) == int(errors_of)


def test_a_buffer_stands_in_the_signature_and_joins_stretches():
    reference, a, b = spoken(2, 60, 0.3)
    found = [
        compare(reference, {"a": a, "b": b}, metrics=[f"wer:buffer={n}"], tests=["matched_pairs"])
        for n in (1, 4)
    ]
    assert found[0].pairs[0].stretches > found[1].pairs[0].stretches
    assert "|buffer:4|" in found[1].signature


def test_characters_have_stretches_too():
    report = compare(
        ["abcd efgh"] * 5,
        {"a": ["abxd efgh"] * 5, "b": ["abcd efg"] * 5},
        metrics=["cer"],
        tests=["matched_pairs"],
    )
    assert report.pairs[0].stretches == 10


def test_large_texts_cut_into_stretches_are_measured_whole():
    reference, a, b = spoken(9, 5000, 0.1)
    systems = {"a": a, "b": b}
    both = compare(reference, systems, metrics=["ter", "wer"], tests=["bootstrap"])
    alone = compare(reference, systems, metrics=["wer"], tests=["bootstrap", "matched_pairs"])
    assert both.systems[0].scores["wer"] == alone.systems[0].scores["wer"]
    assert alone.pairs[1].stretches == len(stretches(*words_of(reference, a, b), 2))


def test_what_is_missing_is_told():
    counts = {"a": np.array([[1, 4], [0, 5]]), "b": np.array([[0, 4], [1, 5]])}
    with pytest.raises(RecipeError, match="matched_pairs needs transcripts"):
        compare(scores=counts, metrics=["ratio"], tests=["matched_pairs"])
    with pytest.raises(RecipeError, match="ter does not say"):
        compare(["a"], {"a": ["a"], "b": ["b"]}, metrics=["ter"], tests=["matched_pairs"])
    with pytest.raises(RecipeError, match="the units of one test set"):
        suite({t: {"references": ["a b"], "systems": {"a": ["a"], "b": ["b"]}} for t in "xy"},
              metrics=["wer"], tests=["matched_pairs"])  # fmt: skip
    with pytest.raises(RecipeError, match="one output of each system"):
        compare(
            ["a b"] * 2,
            {"a": [["a"] * 2, ["b"] * 2], "b": [["a b"] * 2, ["b"] * 2]},
            metrics=["wer"],
            tests=["matched_pairs"],
        )
