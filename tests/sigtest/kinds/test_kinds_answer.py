"""Each kind says in words what it found; the numbers are those of its report."""

import pytest

from sigtest.kinds import KINDS


def told(path: str, **choices: object) -> str:
    kind = KINDS[path]
    example = next(iter(kind.examples.values()))["value"]
    request = {name: own for name, own in {**example, **choices}.items() if own is not None}
    return " ".join(kind.present(kind.compute(kind.parse(request))).document().answer)


def test_judgements_name_whom_people_find_best():
    said = told("human-evaluations")
    assert "A and B may each be the best as people judge" in said
    assert "2 systems fall into one cluster: no pair is separated." in said


def test_a_single_cluster_may_have_pairs_that_are_separated():
    """Neighbours are alike, and the first is better than the last (z of their means: 1.4, 2.7)."""
    judged = [
        {"annotator": "w1", "system": system, "segment": segment, "score": score + segment * 7 % 20}
        for system, score in (("A", 60), ("B", 57.5), ("C", 55))
        for segment in range(20)
    ]
    said = told("human-evaluations", judgements=judged)
    assert "3 systems fall into one cluster, in which 1 of 3 pairs is separated." in said


def test_those_that_may_be_the_best_are_named_from_the_highest_score_on():
    judged = [
        {"annotator": "w1", "system": system, "segment": segment, "score": score + segment * 7 % 20}
        for system, score in (("A", 55.0), ("B", 55.4), ("C", 55.8))
        for segment in range(20)
    ]
    said = told("human-evaluations", judgements=judged)
    assert said.startswith("C, B and A may each be the best as people judge")
    systems = [f"s{i}" for i in range(8)]
    people = dict(zip(systems, (1, 2, 3, 4, 5, 6, 7, 8), strict=True))
    metrics = {"a": (3, 1, 2, 5, 4, 8, 6, 7), "b": (1, 2, 4, 3, 5, 6, 7, 8)}
    scored = {m: {"system": dict(zip(systems, own, strict=True))} for m, own in metrics.items()}
    body = {"judgements": None, "human": {"scores": {"system": people}}, "metrics": scored}
    said = told("metric-evaluations", **body)
    assert said.startswith("b and a may each be the best at agreeing with people")


def test_clear_judgements_name_one_system():
    judged = [
        {"annotator": "w1", "system": system, "segment": segment, "score": score + segment % 3}
        for system, score in (("A", 80), ("B", 20))
        for segment in range(20)
    ]
    said = told("human-evaluations", judgements=judged)
    assert "A is the best as people judge, significantly better than the other." in said
    assert "2 systems fall into 2 clusters" in said


def test_metrics_that_cannot_be_told_apart_are_named_together():
    assert "comet and ter may each be the best at agreeing with people" in told(
        "metric-evaluations"
    )
    said = told("metric-evaluations", baseline="ter")
    lone = "No metric agrees significantly better with people than ter"
    assert f"{lone} (corrected for comparisons with it alone)." in said  # ranks are not
    assert f"{lone}." in told("metric-evaluations", baseline="ter", correction="none")


def test_accuracy_counts_pairs_and_plans_count_segments():
    said = told("test-accuracy")
    assert said.startswith("At alpha 0.05, bleu by approximate randomization, ")
    assert "conclude what people conclude for 1 of 3 pairs of systems." in said
    assert told("plans") == (
        "A true difference of 0.1 scores shows with 80 % power in about 2 segments: 2 to 5, as far "
        "as the pilot tells."
    )


@pytest.mark.parametrize(
    ("scores", "words"),
    [([0.5] * 10, "do not differ in the pilot"), (None, "show a true difference of 0.040 scores ")],
)
def test_plans_without_a_difference_tell_what_would_show(scores, words):
    example = next(iter(KINDS["plans"].examples.values()))["value"]["comparison"]
    systems = example["systems"]
    if scores is not None:
        systems = {name: {"scores": {"m": scores}} for name in "AB"}
    said = told("plans", comparison={**example, "systems": systems}, difference=None)
    assert words in said
