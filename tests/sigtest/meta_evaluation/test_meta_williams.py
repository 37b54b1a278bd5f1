"""Williams' test against the published oracles and R's psych package."""

import json
import math
from pathlib import Path

import pytest
from scipy import stats

from sigtest.files.judgements import read_scores
from sigtest.meta_evaluation.compute import compute
from sigtest.meta_evaluation.question import parse
from sigtest.meta_evaluation.significance import certain, williams


def expected(oracles: Path) -> dict:
    return json.loads((oracles / "williams.json").read_text())


def test_examples_of_the_oracles(oracles):
    for example in expected(oracles)["examples"]:
        found = williams(example["r12"], example["r13"], example["r23"], example["n"])
        assert example["df"] == example["n"] - 3
        assert found.statistic == pytest.approx(example["t"], rel=1e-9)
        assert found.greater == pytest.approx(example["p_one_sided"], rel=1e-9)
        assert certain(found)["two-sided"].p_value == pytest.approx(
            example["p_two_sided"], rel=1e-9
        )


def test_amber_and_bleu_as_r_prints_them():
    # Graham & Baldwin (2014), WMT12 es-en; psych 2.2.9 under R 4.2.2, df = n - 3
    found = williams(0.947389661501826, 0.880651168828011, 0.760352368043568, 12)
    assert found.greater == pytest.approx(0.0124587706640954, rel=1e-12)
    assert stats.t.sf(found.statistic, 9) == pytest.approx(found.greater, rel=1e-12)


def rows(path: Path, *cells: bytes) -> bytes:
    """The header of a table and the rows that have these cells."""
    header, *lines = path.read_bytes().splitlines(keepends=True)
    return header + b"".join(line for line in lines if {*cells} <= {*line.split()})


def test_all_pairs_of_wmt12_from_the_authors_files(data, oracles):
    oracle = expected(oracles)["wmt12_es_en"]
    folder = data / "williams" / "example-data-multi"
    humans = folder / "mt-systems-scored-by-humans.tsv"
    metrics = folder / "mt-systems-scored-by-metrics.tsv"
    asked = parse(
        {
            "human": {"scores": read_scores(rows(humans, b"es-en"), "humans")},
            "metrics": {
                label: read_scores(rows(metrics, b"es-en", label.encode()), "metrics")
                for label in oracle["pearson_with_human"]
            },
            "statistics": ["pearson", "spearman"],
            "tests": ["williams"],
            "absolute": True,
            "correction": "none",
            "baseline": "BLEU_4_closest_cased",
        }
    )
    report = compute(asked)
    for metric in report.metrics:
        r, rho = oracle["pearson_with_human"], oracle["spearman_with_human"]
        assert metric.pearson.value == pytest.approx(abs(r[metric.label]), rel=1e-12)
        assert metric.spearman.value == pytest.approx(abs(rho[metric.label]), rel=1e-12)
    pairs = {(pair["a"], pair["b"]): pair for pair in oracle["pairs"]}
    assert len(report.pairs) == len(pairs) == 66
    for found in report.pairs:
        pair = pairs[found.a, found.b]
        assert found.p_value == pytest.approx(pair["p_one_sided"], rel=1e-9)
        assert found.p_value == pytest.approx(pair["psych_2_2_9_p_one_sided"], rel=1e-9)
    assert sum(pair.significant for pair in report.pairs) == 36
    assert len(report.sets[0].beats_baseline) == 8


def test_the_direction_is_the_callers():
    better, worse = williams(0.9, 0.8, 0.7, 15), williams(0.9, 0.7, 0.8, 15)
    assert better.statistic == -worse.statistic > 0
    assert better.greater == worse.less < 0.5 < worse.greater
    assert better.greater + better.less == pytest.approx(1)
    either = [certain(found)["two-sided"].p_value for found in (better, worse)]
    assert either == [2 * better.greater] * 2


@pytest.mark.parametrize("r12", [1.0, -1.0, 1.0 - 1e-15])
def test_the_same_metric_twice_has_p_1(r12):
    found = williams(r12, 0.7, math.copysign(0.7, r12), 10)
    assert found is None
    assert [chance.p_value for chance in certain(found).values()] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("n", [4, 12, 560])
@pytest.mark.parametrize("r13", [-0.6, 0.3, 0.42, 0.7])
def test_tails_keep_their_digits(r13, n):
    found = williams(0.3, r13, 0.4, n)
    assert found.greater == pytest.approx(stats.t.sf(found.statistic, n - 3), rel=1e-10)
    assert found.less == pytest.approx(stats.t.cdf(found.statistic, n - 3), rel=1e-10)
