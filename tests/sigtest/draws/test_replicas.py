"""Systems with several training runs: against plain loops, plain systems and each other."""

import statistics
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from computed import in_blocks, read, sample_of
from sacrebleu.metrics import BLEU
from test_incremental import from_parts

from sigtest.comparison.comparison import parse_comparison
from sigtest.comparison.plan import Plan
from sigtest.draws.weights import bootstrap_counts, swap_masks
from sigtest.engine import compare
from sigtest.errors import SigtestError
from sigtest.report import Report

NAMES = ("aspen", "birch", "cedar", "elm")


def texts(example: Path) -> dict[str, list[str]]:
    return {name: read(example / "systems" / f"{name}.en") for name in NAMES}


def blend(first: list[str], second: list[str], every: int) -> list[str]:
    """Another run of the first system: some segments come out as the second's."""
    return [b if i % every == 0 else a for i, (a, b) in enumerate(zip(first, second, strict=True))]


def request_of(example: Path, **fields: object) -> dict:
    text = texts(example)
    runs = {
        "A": [text["aspen"], blend(text["aspen"], text["elm"], 7), text["birch"]],
        "B": [text["birch"], blend(text["birch"], text["cedar"], 3), text["aspen"]],
        "C": [text["cedar"], text["elm"], text["elm"]],
    }
    return {
        "references": [read(example / "reference.en")],
        "systems": [{"name": name, "replicas": replicas} for name, replicas in runs.items()],
        "metrics": ["bleu", "ter"],
        "tests": ["approximate_randomization", "bootstrap", "paired_bootstrap"],
        "resamples": 200,
        "exact": "never",
        **fields,
    }


def document_rows(plan: Plan, rows: np.ndarray) -> np.ndarray:
    """Segments to documents, one after the other."""
    summed = np.zeros((plan.document_count, rows.shape[1]))
    for place, row in zip(plan.document_index, rows, strict=True):
        summed[place] += row
    return summed


@pytest.mark.parametrize("unit", ["segment", "document"])
def test_counts_equal_textbook_loops(example, unit):
    """Exchange each (replica, unit) by its own coin; resample units with all their replicas."""
    comparison = parse_comparison(
        request_of(example, unit=unit, documents=read(example / "documents.txt"))
    )
    plan, sample = comparison.plan.parts[0], sample_of(comparison)
    report = in_blocks(sample, 64)
    n = plan.segments
    expected = {}
    for m, metric in enumerate(comparison.recipe.metrics):
        runs = []  # by system, then replica: (units, k)
        for system in comparison.entries[0].systems:
            rows = [metric.statistics(comparison.entries[0].testset, run) for run in system.runs]
            runs.append([document_rows(plan, r) if unit == "document" else r for r in rows])
        units = len(runs[0][0])

        def score(rows: list[np.ndarray], metric=metric) -> float:
            return float(metric.score(np.sum([r.sum(axis=0) for r in rows], axis=0)))

        for a, b in plan.pairs.tolist():
            seen = score(runs[a]) - score(runs[b])
            swapped, resampled = [], []
            for r in range(200):
                mask = swap_masks(12345, r, r + 1, 3 * units)[0] == 1
                keep = mask.reshape(3, units, 1)
                x = [np.where(k, p, q) for k, p, q in zip(keep, runs[a], runs[b], strict=True)]
                y = [np.where(k, q, p) for k, p, q in zip(keep, runs[a], runs[b], strict=True)]
                swapped.append(score(x) - score(y))
                drawn = bootstrap_counts(12345, r, r + 1, units)[0].astype(int)
                x, y = ([np.repeat(p, drawn, axis=0) for p in runs[s]] for s in (a, b))
                resampled.append(score(x) - score(y))
            tau = sum(resampled) / 200
            names = comparison.recipe.labels[m], plan.systems[a], plan.systems[b]
            far = abs(seen) - 1e-7
            expected["approximate_randomization", *names] = sum(abs(d) >= far for d in swapped)
            expected["bootstrap", *names] = sum(abs(d - tau) >= far for d in resampled)
            against = sum(d <= 1e-7 for d in resampled), sum(d >= -1e-7 for d in resampled)
            expected["paired_bootstrap", *names] = min(against)
    assert {(p.test, p.metric, p.a, p.b): p.count for p in report.pairs} == expected
    assert n == 138


def test_scores_are_those_of_all_replicas_as_one_output(example):
    request = request_of(example, resamples=9)
    report = compare(parse_comparison(request))
    reference = request["references"][0]
    for system, given in zip(report.systems, request["systems"], strict=True):
        joined = [line for replica in given["replicas"] for line in replica]
        score = system.scores["bleu"]
        pooled = BLEU().corpus_score(joined, [reference * 3]).score
        assert score.score == pytest.approx(pooled, rel=1e-12)
        alone = [BLEU().corpus_score(lines, [reference]).score for lines in given["replicas"]]
        assert score.replicas == pytest.approx(alone, rel=1e-12)
        assert score.training_stderr == pytest.approx(statistics.stdev(alone), rel=1e-12)


def test_one_replica_is_a_plain_system_bit_for_bit(example):
    request = request_of(example)
    for system in request["systems"]:
        system["replicas"] = system["replicas"][:1]
    plain = [{"name": s["name"], "hypotheses": s["replicas"][0]} for s in request["systems"]]
    one, none = parse_comparison(request), parse_comparison({**request, "systems": plain})
    assert one.plan == none.plan
    assert one.plan.key == none.plan.key
    assert compare(one).as_json() == compare(none).as_json()


def test_equal_replicas_give_the_intervals_of_one(example):
    """Three copies triple every sum, which changes no score of BLEU or TER."""
    request = request_of(example)
    for system in request["systems"]:
        system["replicas"] = system["replicas"][:1] * 3
    plain = [{"name": s["name"], "hypotheses": s["replicas"][0]} for s in request["systems"]]
    tripled = compare(parse_comparison(request))
    once = compare(parse_comparison({**request, "systems": plain}))
    for a, b in zip(tripled.systems, once.systems, strict=True):
        for metric in a.scores:
            assert a.scores[metric].ci == pytest.approx(b.scores[metric].ci, rel=1e-12)
            assert a.scores[metric].training_stderr == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("exact", ["auto", "never"])
def test_identical_systems_have_p_one(example, exact):
    request = request_of(example, exact=exact)
    request["systems"][1]["replicas"] = request["systems"][0]["replicas"]
    pairs = compare(parse_comparison(request)).pairs
    assert {pair.p_value for pair in pairs if (pair.a, pair.b) == ("A", "B")} == {1.0}


def test_few_differing_outputs_are_counted_exactly(example):
    """All 2**5 exchanges of the (segment, replica) pairs that differ, one after the other."""
    text = texts(example)
    first = [text["aspen"], text["birch"]]
    other = [list(lines) for lines in first]
    places = [(0, 3), (0, 40), (1, 3), (1, 50), (1, 100)]
    for replica, i in places:
        other[replica][i] = text["elm"][i]
    request = request_of(
        example, exact="auto", metrics=["bleu"], tests=["approximate_randomization"]
    )
    request["systems"] = [{"name": "A", "replicas": first}, {"name": "B", "replicas": other}]
    pair = compare(parse_comparison(request)).pairs[0]
    bleu = BLEU(references=[request["references"][0] * 2])
    count = 0
    for swaps in product([False, True], repeat=len(places)):
        x, y = ([list(lines) for lines in given] for given in (first, other))
        for (replica, i), swap in zip(places, swaps, strict=True):
            if swap:
                x[replica][i], y[replica][i] = y[replica][i], x[replica][i]
        scores = [bleu.corpus_score([*runs[0], *runs[1]], None).score for runs in (x, y)]
        count += abs(scores[0] - scores[1]) >= abs(pair.difference) - 1e-7
    assert (pair.exact, pair.count, pair.resamples) == (True, count, 32)


@pytest.mark.parametrize("unit", ["segment", "document"])
@pytest.mark.parametrize("exact", ["auto", "never"])
def test_parts_give_the_report_of_all_at_once(example, unit, exact):
    comparison = parse_comparison(
        request_of(
            example,
            unit=unit,
            exact=exact,
            documents=read(example / "documents.txt"),
            labels=[name[:1] for name in read(example / "documents.txt")],
            stratified=True,
            metrics=["bleu", "ter", "nist"],
        )
    )
    assert from_parts(comparison) == compare(comparison)


def test_blocks_of_any_size_give_the_same_report(example):
    sample = sample_of(parse_comparison(request_of(example, metrics=["bleu", "nist"])))
    assert in_blocks(sample, 7).as_json() == in_blocks(sample, 200).as_json()


def test_everything_survives_json(example):
    comparison = parse_comparison(request_of(example))
    assert parse_comparison(comparison.as_json()) == comparison
    assert Plan.of(comparison.plan.as_json()) == comparison.plan
    assert "|replicas:3|" in comparison.plan.signature
    report = compare(comparison)
    assert Report.from_json(report.as_json()) == report


@pytest.mark.parametrize(
    ("system", "message"),
    [
        (
            {"name": "D", "hypotheses": ["x"] * 138},
            "System 'A' brings 3 replicas and system 'D' no replicas; "
            "all systems must bring equally many.",
        ),
        (
            {"name": "D", "replicas": [["x"] * 138] * 2},
            "System 'A' brings 3 replicas and system 'D' 2 replicas; "
            "all systems must bring equally many.",
        ),
        (
            {"name": "D", "replicas": [["x"] * 138, ["x"] * 7, ["x"] * 138]},
            "System 'D' has 7 lines of replica 2, the test set has 138 segments.",
        ),
        (
            {"name": "D", "replicas": [["x"] * 138] * 3, "hypotheses": ["x"] * 138},
            "System 'D' brings replicas, and hypotheses or scores besides them; "
            "replicas are all its output.",
        ),
        ({"name": "D", "replicas": []}, "System 'D' has no replicas."),
        ({"name": "D", "replicas": "x"}, "replicas must be a list, not a string."),
        (
            {"name": "D", "replicas": [["x"] * 138, ["x\ny"] * 138]},
            "Replica 2 of system 'D', segment 1: a line break at character 2; "
            "a segment is one line.",
        ),
    ],
)
def test_bad_replicas_are_one_clear_error(example, system, message):
    request = request_of(example)
    request["systems"].append(system)
    with pytest.raises(SigtestError) as caught:
        parse_comparison(request)
    assert str(caught.value) == message
