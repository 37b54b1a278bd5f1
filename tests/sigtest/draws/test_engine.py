"""Comparisons against plain loops, published p-values and themselves cut differently."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from computed import in_blocks, read, sample_of
from sentences import sentences

from sigtest.comparison.comparison import parse_comparison
from sigtest.draws.distribution import distribution, pair_of
from sigtest.draws.sample import Sample
from sigtest.draws.weights import bootstrap_counts, swap_masks
from sigtest.engine import compare
from sigtest.metrics import METRICS
from sigtest.report import PairReport, Report
from sigtest.significance import ALTERNATIVES, TESTS, resampling_tests

METRIC_NAMES = ["bleu", "chrf", "ter"]

# test_studentised.py has loops of its own
DRAWING = [name for name, test in resampling_tests().items() if test.draws != "studentised"]


def request_of(example: Path, **recipe: object) -> dict:
    return {
        "references": [read(example / "reference.en")],
        "systems": [
            {"name": path.stem, "hypotheses": read(path)}
            for path in sorted((example / "systems").iterdir())
        ],
        "metrics": METRIC_NAMES,
        "tests": list(resampling_tests()),
        "resamples": 500,
        **recipe,
    }


@pytest.fixture(scope="module")
def sample(example: Path) -> Sample:
    return sample_of(parse_comparison(request_of(example, exact="never")))


@pytest.mark.parametrize("size", [1, 64, 499, 1000])
def test_blocks_in_any_size_and_order_give_the_same_report(sample, size):
    assert in_blocks(sample, size).as_json() == in_blocks(sample, 500).as_json()


def test_resamples_can_be_drawn_one_by_one_or_all_at_once(sample):
    total = sample.part.resamples
    runs = [(r, r + 1) for r in range(total)]
    one_by_one = np.concatenate([sample.bootstrap_scores(*run) for run in runs], axis=2)
    kept = [sample.swapped_sums(*run)[0] for run in runs]
    assert (sample.bootstrap_scores(0, total) == one_by_one).all()
    assert (sample.swapped_sums(0, total)[0] == np.concatenate(kept, axis=2)).all()


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_identical_systems_have_p_one_in_every_test_and_metric(example, alternative):
    for exact in ("auto", "never"):
        request = request_of(example, alternative=alternative, exact=exact)
        request["systems"] = [s for s in request["systems"] if s["name"] in ("cedar", "dogwood")]
        report = compare(parse_comparison(request))
        # the bootstrap of 2005 as printed gives |D_b| - 0 >= 0 for every resample, too
        assert {pair.p_value for pair in report.pairs} == {1.0}
        assert not any(pair.significant for pair in report.pairs)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_counts_equal_textbook_loops(sample, alternative):
    """Each test as its paper prints it, one resample after the other, on the same draws."""
    recipe = sample.part.recipe.but(alternative=alternative, resamples=200)
    plan = replace(sample.part, recipe=recipe)
    sample = Sample(plan, sample.tables)
    report = in_blocks(sample, 64)
    n = sample.units
    bootstrap = [bootstrap_counts(recipe.seed, r, r + 1, n)[0].astype(int) for r in range(200)]
    swaps = [swap_masks(recipe.seed, r, r + 1, n)[0] == 1 for r in range(200)]
    expected = {}
    for m, metric in enumerate(recipe.metrics):
        sign = 1 if metric.higher_is_better else -1
        for a, b in plan.pairs.tolist():
            x, y = sample.tables[m][a], sample.tables[m][b]

            def difference(x: np.ndarray, y: np.ndarray, metric=metric, sign=sign) -> float:
                return sign * float(metric.score(x.sum(axis=0)) - metric.score(y.sum(axis=0)))

            observed = difference(x, y)
            near = 1e-9 * 100
            resampled = [
                difference(np.repeat(x, w, axis=0), np.repeat(y, w, axis=0)) for w in bootstrap
            ]
            swapped = []
            for mask in swaps:
                keep = mask[:, None]
                swapped.append(difference(np.where(keep, x, y), np.where(keep, y, x)))
            tau = sum(resampled) / 200
            tau_abs = sum(abs(d) for d in resampled) / 200
            turn = -1 if alternative == "less" else 1
            two = alternative == "two-sided"
            counts = dict.fromkeys(DRAWING, 0)
            against = {"a": 0, "b": 0}
            for d in swapped:
                counts["approximate_randomization"] += (
                    abs(d) >= abs(observed) - near if two else turn * d >= turn * observed - near
                )
            for d in resampled:
                counts["bootstrap"] += (
                    abs(d - tau) >= abs(observed) - near
                    if two
                    else turn * (d - tau) >= turn * observed - near
                )
                counts["riezler_maxwell_bootstrap"] += abs(d) - tau_abs >= abs(observed) - near
                against["a"] += d <= near
                against["b"] += d >= -near
            chosen = {"two-sided": min(against.values()), "greater": against["a"]}
            counts["paired_bootstrap"] = chosen.get(alternative, against["b"])
            for test, count in counts.items():
                expected[recipe.labels[m], test, plan.systems[a], plan.systems[b]] = count
    found = {(p.metric, p.test, p.a, p.b): p.count for p in report.pairs if p.test in DRAWING}
    assert found == expected


def test_p_is_never_zero_and_follows_from_the_count(sample):
    for pair in in_blocks(sample, 500).pairs:
        sides = TESTS[pair.test].sides("two-sided")
        assert pair.p_value == min(1, sides * (pair.count + 1) / (pair.resamples + 1))
        assert pair.p_value > 0
        low, high = pair.p_interval
        assert low <= sides * pair.count / pair.resamples <= high or high == 1.0


def test_order_of_systems_turns_signs_and_nothing_else(example):
    request = request_of(example)
    forward = compare(parse_comparison(request))
    request["systems"] = request["systems"][::-1]
    backward = compare(parse_comparison(request))

    def key(pair: PairReport) -> tuple:
        return pair.metric, pair.test, frozenset((pair.a, pair.b))

    turned = {key(pair): pair for pair in backward.pairs}
    for pair in forward.pairs:
        other = turned[key(pair)]
        assert (pair.p_value, pair.p_adjusted) == (other.p_value, other.p_adjusted)
        assert pair.difference == -other.difference


def test_seed_zero_is_a_seed_of_its_own(example):
    reports = [
        compare(parse_comparison(request_of(example, seed=seed, metrics=["chrf"])))
        for seed in (0, 12345)
    ]
    assert reports[0].pairs != reports[1].pairs
    assert "seed:0|" in reports[0].signature


def test_baseline_is_always_b(example):
    report = compare(parse_comparison(request_of(example, pairs={"baseline": "birch"})))
    assert {pair.b for pair in report.pairs} == {"birch"}
    assert [p.a for p in report.pairs[:4]] == ["aspen", "cedar", "dogwood", "elm"]
    assert all(not system.ranks for system in report.systems)


def test_ter_claims_are_oriented(example):
    report = compare(parse_comparison(request_of(example, metrics=["ter"], alternative="greater")))
    for pair in report.pairs:
        if (pair.a, pair.b) == ("aspen", "elm"):
            assert pair.difference < 0  # fewer edits
            assert pair.p_value < 0.01


def test_document_units_give_other_and_wider_intervals(example):
    documents = read(example / "documents.txt")
    by = {
        unit: compare(parse_comparison(request_of(example, documents=documents, unit=unit)))
        for unit in ("segment", "document")
    }
    assert by["document"].testset.documents == len(set(documents))
    assert any("document" in warning for warning in sentences(by["segment"]))
    assert by["segment"].pairs[0].score_a == by["document"].pairs[0].score_a
    assert by["segment"].pairs[0].ci != by["document"].pairs[0].ci


def test_auto_takes_enough_resamples_for_the_correction(example):
    comparison = parse_comparison(request_of(example, resamples="auto"))
    # two-sided paired bootstrap over 10 pairs: 20 / (R + 1) <= .0125 needs R = 1,599
    assert comparison.plan.resamples == 9_999
    # 132 / (R + 1) <= .0125 needs R = 10,559
    assert comparison.recipe.resolved(66) == 19_999


def test_intervals_take_9999_resamples_where_no_test_looks_at_them(example):
    """Further ones serve p-values alone, and a test of bootstrap resamples looks at all."""

    def made(resamples: int, *tests: str) -> Report:
        asked = {"metrics": ["chrf"], "tests": tests, "exact": "never", "resamples": resamples}
        body = request_of(example, **asked)
        return compare(parse_comparison({**body, "systems": body["systems"][:2]}))

    usual, more = (made(r, "approximate_randomization") for r in (9_999, 11_999))
    looking = made(11_999, "approximate_randomization", "bootstrap")
    assert [pair.ci for pair in more.pairs] == [pair.ci for pair in usual.pairs]
    assert [pair.count for pair in more.pairs] != [pair.count for pair in usual.pairs]
    assert [pair.p_value for pair in looking.pairs[: len(more.pairs)]] == [
        pair.p_value for pair in more.pairs
    ]
    assert [pair.ci for pair in looking.pairs[: len(more.pairs)]] != [p.ci for p in more.pairs]
    assert "intervals of 9,999 bootstrap resamples" in more.methods.text
    assert "with 11,999 resamples" in more.methods.text


@pytest.mark.parametrize("test", DRAWING)
def test_distribution_is_what_the_report_counted(sample, test):
    report = in_blocks(sample, 500)
    for metric in METRIC_NAMES:
        plan, (a, b) = pair_of(sample.part, "aspen", "birch", metric, test)
        table = sample.tables[METRIC_NAMES.index(metric)][[a, b]]
        drawn = distribution(plan, [table], metric)
        pair = next(p for p in report.pairs if (p.test, p.metric) == (test, metric))
        assert drawn.observed == pair.difference
        assert len(drawn.values) == 500
        assert drawn.histogram()[1].sum() == 500
        if test == "paired_bootstrap":
            sign = 1 if METRICS[metric]().higher_is_better else -1
            against = (sign * drawn.values <= 0).sum(), (sign * drawn.values >= 0).sum()
            assert pair.count == min(against)
        else:
            extreme = drawn.values if test.startswith("riezler") else np.abs(drawn.values)
            assert pair.count == (extreme >= abs(pair.difference) - 1e-9).sum()


@pytest.mark.slow
def test_wmt17_p_values(data, oracles):
    """Moses, multeval, sacreBLEU and 100,000 resamples of NumPy, each as the test it really is."""
    folder = data / "wmt17.en-de"
    baseline = "newstest2017.LIUM-NMT.4900.en-de"
    request = {
        "references": [read(folder / "reference.de")],
        "systems": [
            {"name": path.name.removesuffix(".txt"), "hypotheses": read(path)}
            for path in sorted((folder / "systems").iterdir())
        ],
        "metrics": ["bleu:tokenize=none"],
        "tests": DRAWING,
        "resamples": 9_999,
        "pairs": {"baseline": baseline},
    }
    sample = sample_of(parse_comparison(request))
    found = {}
    for alternative in ALTERNATIVES:
        recipe = sample.part.recipe.but(alternative=alternative)
        plan = replace(sample.part, recipe=recipe)
        for pair in in_blocks(Sample(plan, sample.tables), 4096).pairs:
            found[pair.a, pair.test, alternative] = pair
    lines = (oracles / "significance.wmt17.en-de.tsv").read_text().splitlines()
    rows = list(csv.DictReader((x for x in lines if x[0] != "#"), delimiter="\t"))
    checked = 0
    for row in rows:
        if row["metric"] != "BLEU" or row["usable_as_oracle"] != "yes":
            continue
        test = {
            "bootstrap_rm_legacy": "riezler_maxwell_bootstrap",
            "bootstrap_rm_legacy_strict": "riezler_maxwell_bootstrap",
            "approximate_randomization_strict": "approximate_randomization",
            "bootstrap_shift": "bootstrap",
            "paired_bootstrap_koehn": "paired_bootstrap",
        }.get(row["test"], row["test"])
        better = found[row["system"], test, "two-sided"].difference > 0
        one_sided = "greater" if better else "less"
        alternative = one_sided if row["direction"].startswith("one-sided") else "two-sided"
        pair = found[row["system"], test, alternative]
        assert abs(pair.p_value - float(row["expected_p"])) <= float(row["tolerance"]), row
        checked += 1
    assert checked >= 135
