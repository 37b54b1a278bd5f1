"""Finished comparisons and human evaluations as parts of a request."""

from itertools import combinations

import numpy as np
import pytest
from sentences import sentences

from sigtest.comparison.comparison import parse_comparison
from sigtest.engine import compare
from sigtest.errors import InputError, LimitError
from sigtest.meta_evaluation import scored as requests
from sigtest.meta_evaluation.compute import compute
from sigtest.meta_evaluation.question import from_comparison, parse
from sigtest.people.compute import compute as evaluate
from sigtest.people.question import parse as parse_human
from sigtest.report import encode

SYSTEMS = ("Aspen", "Birch", "Cedar", "Daisy")
SENTENCE = "the old road leads from a small harbour to the market town"


def outputs() -> dict[str, list[str]]:
    rng = np.random.default_rng(1)
    words = SENTENCE.split()
    return {
        name: [
            " ".join(word if rng.random() < kept else "mist" for word in words) for _ in range(25)
        ]
        for name, kept in zip(SYSTEMS, (0.9, 0.8, 0.78, 0.5), strict=True)
    }


def comparison(**choices: object) -> dict:
    body = {
        "references": [SENTENCE] * 25,
        "systems": outputs(),
        "metrics": ["bleu", "ter"],
        "resamples": 499,
        **choices,
    }
    return encode(compare(parse_comparison(body)))


def people() -> dict:
    rng = np.random.default_rng(2)
    rows = {
        name: (level + rng.normal(size=25)).tolist()
        for name, level in zip(SYSTEMS, (1.5, 1.0, 0.9, 0.0), strict=True)
    }
    return {"scores": {"segment": rows}}


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_metrics_of_a_comparison_bring_their_p_values(alternative):
    report = comparison(alternative=alternative)
    metrics = from_comparison(report)
    assert metrics["ter"]["higher"] is False
    asked = parse({"human": people(), "metrics": metrics})
    better = asked.sets[0].metrics[0].better
    for pair in report["pairs"]:
        if pair["metric"] == "bleu":
            a, b = SYSTEMS.index(pair["a"]), SYSTEMS.index(pair["b"])
            if alternative == "two-sided":  # the first system is the better one
                assert better[a, b] == pair["p_value"] / 2
                assert better[b, a] == 1 - better[a, b]
            else:
                claim = (a, b) if alternative == "greater" else (b, a)
                assert better[claim] == pair["p_value"]


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_neither_of_two_equal_outputs_is_taken_for_the_better_one(alternative):
    systems = outputs()
    report = comparison(
        alternative=alternative, systems={**systems, "Elm": systems["Cedar"]}, metrics=["bleu"]
    )
    scores = people()["scores"]["segment"]
    judged = {"scores": {"segment": {**scores, "Elm": scores["Cedar"]}}}
    asked = parse({"human": judged, "metrics": from_comparison(report)})
    better = asked.sets[0].metrics[0].better
    assert better[2, 4] == better[4, 2] == 1.0  # each of p >= the observed difference of 0


def test_soft_accuracy_of_a_corpus_score_looks_at_its_own_p_values():
    metrics = from_comparison(comparison(alternative="greater"))
    found = compute(parse({"human": people(), "metrics": metrics, "resamples": 999}))
    flips = compute(
        parse({"human": people(), "metrics": {"people": people()["scores"]}, "resamples": 999})
    )
    assert flips.metrics[0].soft_accuracy.value == 1.0  # people against themselves
    own = found.metrics[0].soft_accuracy
    assert own.n == 6
    assert own.ci is None
    assert 0.7 < own.value < 1.0
    assert not any("means of segment scores" in said for said in sentences(found))


def test_a_human_report_brings_its_z():
    rng = np.random.default_rng(4)
    judgements = [
        {"annotator": f"M{who}", "system": name, "segment": str(i), "score": float(s)}
        for level, name in enumerate(reversed(SYSTEMS))
        for i, s in enumerate(np.clip(rng.normal(40 + 8 * level, 9, 30), 0, 100), 1)
        for who in (i % 3,)
    ]
    report = encode(evaluate(parse_human({"judgements": judgements})))
    z = {own["name"]: own["z"] for own in report["systems"]}
    metric = {"system": dict(zip(SYSTEMS, (40.0, 30.0, 35.0, 20.0), strict=True))}
    found = compute(parse({"human": {"scores": {"system": z}}, "metrics": {"BLEU": metric}}))
    alike = [
        (z[a] > z[b]) == (metric["system"][a] > metric["system"][b])
        for a, b in combinations(SYSTEMS, 2)
    ]
    assert found.metrics[0].accuracy.value == np.mean(alike)


def test_a_report_of_another_kind_is_refused():
    with pytest.raises(InputError, match="has no systems"):
        from_comparison({"rows": []})


def test_more_scores_than_are_accepted_are_refused(monkeypatch):
    monkeypatch.setattr(requests, "MOST_CELLS", 99)
    with pytest.raises(LimitError, match=r"100 segment scores.*at most 99") as caught:
        parse({"human": people(), "metrics": {"BLEU": people()["scores"]}})
    assert caught.value.limit == "rows"
