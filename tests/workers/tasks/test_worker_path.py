"""What the workers compute is what one process computes, byte for byte."""

import pytest
from service import CALLER, Comparisons, Service, example, finished, in_process, started, synthetic

from sigtest.comparison.comparison import Comparison, parse_comparison
from workers.questions import Status
from workers.settings import Settings

SCORES = {
    "systems": [
        {"name": "a", "scores": {"comet": [0.1 * i for i in range(40)]}},
        {"name": "b", "scores": {"comet": [0.1 * i + 0.01 * (i % 7) for i in range(40)]}},
    ],
    "metrics": [{"name": "scores", "of": "comet"}],
    "resamples": 999,
}


def computed(service: Service, comparison: Comparison, block: int | None = None) -> bytes:
    """The report of the workers; the cut is chosen where the comparison is submitted."""
    jobs = Comparisons.connect(service.settings.model_copy(update={"block": block}))
    record, _ = jobs.submit(comparison, CALLER)
    record = finished(jobs, record.id)
    assert record.status is Status.SUCCEEDED, record.error
    report = jobs.report(record.id, CALLER)
    jobs.remove(record.id, CALLER)
    jobs.close()
    return report


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 4])
def test_number_of_workers_and_blocks_change_nothing(tmp_path, workers):
    comparison = example(metrics=["bleu", "chrf"], tests=["approximate_randomization", "bootstrap"])
    expected = in_process(comparison)
    with started(Settings(state=tmp_path, workers=workers)) as service:
        assert computed(service, comparison, block=64) == expected
        assert computed(service, comparison, block=1000) == expected


@pytest.mark.parametrize("block", [64, 1000, None])
@pytest.mark.parametrize(
    "choices",
    [
        {"metrics": ["bleu", "chrf", "ter"], "tests": ["bootstrap", "paired_bootstrap"]},
        {"seed": 0, "unit": "document", "exact": "never"},
        {"seed": 2**64 - 1, "pairs": {"baseline": "cedar"}, "alternative": "greater"},
        {"tests": ["bootstrap"], "correction": "max_t"},
        {"correction": "tukey"},
    ],
)
def test_workers_equal_one_process(service, choices, block):
    comparison = example(**choices)
    assert computed(service, comparison, block) == in_process(comparison)


def test_seeds_differ(service):
    assert computed(service, example(seed=0)) != computed(service, example(seed=1))


def test_scores_computed_elsewhere_need_no_texts(service):
    comparison = parse_comparison(SCORES)
    assert computed(service, comparison) == in_process(comparison)


def test_missing_references_stay_missing(service):
    body = synthetic(1, segments=20).as_json()
    body["references"].append([None if i % 3 else "w1 w2" for i in range(20)])
    comparison = parse_comparison(body)
    assert computed(service, comparison) == in_process(comparison)


@pytest.mark.parametrize("block", [64, None])
def test_replicas_and_strata_go_through(service, block):
    body = example(
        metrics=["bleu", "ter"], tests=["approximate_randomization", "bootstrap"]
    ).as_json()
    texts = [system["hypotheses"] for system in body["systems"]]
    body["systems"] = [
        {"name": "a", "replicas": texts[:2]},
        {"name": "b", "replicas": texts[2:4]},
    ]
    body |= {"labels": ["x", "y", "z"] * 46, "stratified": True, "unit": "segment"}
    comparison = parse_comparison(body)
    assert computed(service, comparison, block) == in_process(comparison)


def test_large_comparison_is_shared_between_workers(service):
    comparison = synthetic(2, segments=2000, systems=6, metrics=["bleu", "chrf"], resamples=20_000)
    assert computed(service, comparison) == in_process(comparison)
