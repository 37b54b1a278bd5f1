"""Stratified draws against plain loops, and what labels must and must not change."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from computed import in_blocks, read, sample_of

from sigtest.comparison.comparison import parse_comparison
from sigtest.comparison.plan import Plan
from sigtest.draws import weights
from sigtest.draws.weights import bootstrap_counts, stratified_counts
from sigtest.engine import compare
from sigtest.errors import SigtestError
from sigtest.significance import resampling_tests

# test_studentised.py has loops of its own
TESTS = [name for name, test in resampling_tests().items() if test.draws != "studentised"]
LABELS = [("news", "talk", "web")[i * i % 7 % 3] for i in range(138)]


def request_of(example: Path, **fields: object) -> dict:
    return {
        "references": [read(example / "reference.en")],
        "systems": [
            {"name": name, "hypotheses": read(example / "systems" / f"{name}.en")}
            for name in ("aspen", "birch", "elm")
        ],
        "metrics": ["bleu", "ter"],
        "tests": TESTS,
        "resamples": 300,
        "exact": "never",
        **fields,
    }


def test_each_stratum_draws_as_many_as_it_has_from_its_own_stream():
    strata = np.array([0, 1, 0, 2, 1, 0, 2])
    drawn = stratified_counts(5, 10, 30, strata, 1)
    for number in range(3):
        inside = strata == number
        own = bootstrap_counts(5, 10, 30, int(inside.sum()), stream=number + 1)
        assert (drawn[:, inside] == own).all()
    assert (stratified_counts(5, 12, 15, strata, 1) == drawn[2:5]).all()


def test_one_stratum_is_the_bootstrap_from_stream_one():
    whole = np.zeros(50, dtype=np.int64)
    assert (stratified_counts(3, 0, 9, whole, 1) == bootstrap_counts(3, 0, 9, 50, stream=1)).all()
    assert (stratified_counts(3, 0, 9, whole, 1) != bootstrap_counts(3, 0, 9, 50)).any()


def test_compiled_draws_of_a_stream_equal_numpy_draws(monkeypatch):
    strata = np.arange(321) % 4
    compiled = stratified_counts(9, 5, 20, strata, 2), weights.swap_masks(9, 5, 20, 321, 3)
    monkeypatch.setattr(weights, "COMPILED", False)
    assert (stratified_counts(9, 5, 20, strata, 2) == compiled[0]).all()
    assert (weights.swap_masks(9, 5, 20, 321, 3) == compiled[1]).all()


def test_counts_equal_textbook_loops(example):
    """Resample each stratum by itself, put the strata together, score, count."""
    comparison = parse_comparison(request_of(example, labels=LABELS, stratified=True))
    sample = sample_of(comparison)
    report = in_blocks(sample, 64)
    strata = list(dict.fromkeys(LABELS))
    places = {name: [i for i, label in enumerate(LABELS) if label == name] for name in strata}
    expected = {}
    for m, metric in enumerate(comparison.recipe.metrics):
        for a, b in sample.part.pairs.tolist():
            differences = []
            for r in range(300):
                rows: list[int] = []
                for number, name in enumerate(strata):
                    own = places[name]
                    counts = bootstrap_counts(12345, r, r + 1, len(own), stream=number + 1)[0]
                    rows += np.repeat(own, counts.astype(int)).tolist()
                assert Counter(LABELS[i] for i in rows) == Counter(LABELS)
                x, y = (metric.score(sample.tables[m][s][rows].sum(axis=0)) for s in (a, b))
                differences.append(metric.sign * float(x - y))
            seen = metric.sign * float(sample.scores[m][a] - sample.scores[m][b])
            tau = sum(differences) / 300
            names = comparison.recipe.labels[m], *(sample.part.systems[s] for s in (a, b))
            shifted = [abs(d - tau) >= abs(seen) - 1e-7 for d in differences]
            against = sum(d <= 1e-7 for d in differences), sum(d >= -1e-7 for d in differences)
            expected["bootstrap", *names] = sum(shifted)
            expected["paired_bootstrap", *names] = min(against)
    found = {(p.test, p.metric, p.a, p.b): p.count for p in report.pairs}
    assert {key: found[key] for key in expected} == expected


def test_strata_change_bootstraps_and_leave_swaps_alone(example):
    plain = compare(parse_comparison(request_of(example, labels=LABELS)))
    stratified = compare(parse_comparison(request_of(example, labels=LABELS, stratified=True)))
    for before, after in zip(plain.pairs, stratified.pairs, strict=True):
        assert before.difference == after.difference
        assert before.ci != after.ci
        if before.test == "approximate_randomization":
            assert before.count == after.count


def test_strata_that_differ_narrow_the_interval():
    """Scores that depend on the label alone do not vary at all within labels."""
    values = [float(10 * (label == "news")) for label in LABELS]
    systems = [
        {"name": n, "scores": {"x": [v + e for v in values]}} for n, e in (("a", 1), ("b", 0))
    ]
    request = {"systems": systems, "metrics": ["scores"], "resamples": 99, "labels": LABELS}
    plain, stratified = (
        compare(parse_comparison({**request, "stratified": stratified}))
        for stratified in (False, True)
    )
    assert plain.systems[0].scores["scores"].stderr > 0.1
    assert stratified.systems[0].scores["scores"].stderr < 1e-12


@pytest.mark.parametrize("unit", ["segment", "document"])
def test_blocks_of_any_size_give_the_same_report(example, unit):
    documents = read(example / "documents.txt")
    labels = [("odd", "even")[sum(map(ord, name)) % 2] for name in documents]
    request = request_of(
        example, documents=documents, labels=labels, stratified=True, unit=unit, metrics=["bleu"]
    )
    sample = sample_of(parse_comparison(request))
    assert in_blocks(sample, 7).as_json() == in_blocks(sample, 300).as_json()
    kept = sample._counts(0, 50) @ np.eye(2)[sample.part.strata]
    assert (kept == np.bincount(sample.part.strata)).all()


def test_what_is_not_used_leaves_no_trace(example):
    (plan,) = parse_comparison(request_of(example, labels=LABELS)).plan.parts
    assert plan.labels is None
    assert "stratified" not in plan.signature
    assert "stratified" not in plan.recipe.as_json()


def test_plan_and_comparison_survive_json(example):
    comparison = parse_comparison(request_of(example, labels=LABELS, stratified=True))
    assert parse_comparison(comparison.as_json()) == comparison
    assert Plan.of(comparison.plan.as_json()) == comparison.plan
    assert "|stratified:true|" in comparison.plan.signature


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"stratified": True}, "stratified needs the label of every segment; give labels."),
        ({"labels": LABELS[:5]}, "labels has 5 entries, the test set has 138 segments."),
        ({"labels": LABELS, "stratified": "yes"}, "stratified must be true or false, not 'yes'."),
        (
            {
                "labels": LABELS,
                "stratified": True,
                "unit": "document",
                "documents": ["first", "first", *["rest"] * 136],
            },
            "Document 'first' has segments labelled 'news' and 'talk' (segment 2); "
            "a document that is a unit lies in one stratum.",
        ),
    ],
)
def test_bad_labels_are_one_clear_error(example, fields, message):
    with pytest.raises(SigtestError) as caught:
        parse_comparison(request_of(example, **fields))
    assert str(caught.value) == message
