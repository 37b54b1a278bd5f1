"""Several test sets in the workers: the library's report, whatever the cut and whoever dies."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from byhand import finish, missing, perform
from service import (
    CALLER,
    Comparisons,
    Service,
    example,
    finished,
    in_process,
    kill,
    started,
    synthetic,
    until,
)

from sigtest.comparison.comparison import Comparison, parse_comparison
from sigtest.comparison.plan import Plan
from sigtest.engine import distribute
from sigtest.errors import RecipeError
from sigtest.kinds import KINDS
from sigtest.kinds.comparisons import ComparisonQuestion
from sigtest.requests.comparisons import EntryRequest
from workers.errors import GoneError
from workers.questions import PairChoice, Record, Status
from workers.settings import Settings
from workers.store import questions
from workers.store.questions import Cut
from workers.store.server import connect
from workers.tasks.run import run

SLOW = {"segments": 800, "systems": 5, "metrics": ["bleu", "chrf"], "resamples": 20_000}


def together(*comparisons: Comparison, **fields: Any) -> Comparison:
    """These comparisons, under the names t0, t1 and so on, by the recipe of the first."""
    bodies = [comparison.as_json() for comparison in comparisons]
    testsets = [
        {
            "name": f"t{t}",
            **{field: body[field] for field in EntryRequest.model_fields if field in body},
        }
        for t, body in enumerate(bodies)
    ]
    return parse_comparison({"testsets": testsets, **comparisons[0].recipe.as_json(), **fields})


def small(**fields: Any) -> Comparison:
    choices = {"metrics": ["bleu", "ter"], "tests": ["approximate_randomization", "bootstrap"]}
    made = [synthetic(seed, segments=40 + 30 * seed, **choices) for seed in range(3)]
    return together(*made, **fields)


def submitted(jobs: Comparisons, several: Comparison) -> Record:
    return jobs.submit(several, CALLER)[0]


@pytest.mark.parametrize("block", [64, 700, None])
@pytest.mark.parametrize("pooled", [False, True])
def test_workers_equal_one_process(service, pooled, block):
    several = small(pooled=pooled, exact="never")
    jobs = Comparisons.connect(service.settings.model_copy(update={"block": block}))
    record = finished(jobs, submitted(jobs, several).id)
    assert record.status is Status.SUCCEEDED, record.error
    assert jobs.report(record.id, CALLER) == in_process(several)
    jobs.remove(record.id, CALLER)
    jobs.close()


def test_request_outline_and_contents_survive_json():
    several = small(pooled=True, alternative="less")
    again = parse_comparison(several.as_json())
    assert again == several
    assert Plan.of(several.plan.as_json()) == several.plan == again.plan
    question = ComparisonQuestion(several)
    stored = json.loads(json.dumps([question.outline(), question.contents()]))
    assert KINDS["comparisons"].load(*stored) == question


@pytest.mark.parametrize(
    "change",
    [{"pooled": True}, {"seed": 1}, {"metrics": ["ter"]}, {"alternative": "greater"}],
)
def test_keys_tell_comparisons_apart(change):
    body = small().as_json()
    assert parse_comparison({**body, **change}).plan.key != small().plan.key
    renamed = [{**testset, "name": "x" + testset["name"]} for testset in body["testsets"]]
    assert parse_comparison({**body, "testsets": renamed}).plan.key != small().plan.key
    assert (
        parse_comparison({**body, "testsets": body["testsets"][::-1]}).plan.key != small().plan.key
    )


@pytest.mark.parametrize("workers", [1, 4])
def test_cut_covers_every_output_of_every_test_set(workers, monkeypatch):
    several = small(resamples=99_999)
    monkeypatch.setattr(questions, "BATCH_SECONDS", 1e-4)
    monkeypatch.setattr(questions, "SHORT", 1e-5)
    cut = Cut.of(ComparisonQuestion(several), workers)
    assert [o for first, last in cut.batches for o in range(first, last)] == list(range(9))
    assert len(cut.batches) >= workers
    assert len(set(cut.distinct_keys)) == 9 * 2
    drawn = [r for start, stop in cut.blocks for r in range(start, stop)]
    assert drawn == list(range(99_999))


def test_tasks_done_twice_and_in_any_order_change_nothing(jobs, context):
    several = small()
    record = submitted(jobs, several)
    tasks = missing(context, record.id)
    perform(context, tasks)
    blocks = missing(context, record.id)  # who measured has drawn the first
    assert [task.arguments for task in blocks] == [(r, r + 500) for r in range(500, 2000, 500)]
    perform(context, [blocks[2], blocks[2]])
    assert jobs.find(record.id, CALLER).progress.done == 1000
    perform(context, [*tasks, *blocks, *tasks])
    context.feed.drop(record.id)
    assert jobs.report(record.id, CALLER) == in_process(several)


def test_lost_report_is_concluded(jobs, context):
    several = small(pooled=True)
    record = submitted(jobs, several)
    perform(context, missing(context, record.id))
    *others, last = missing(context, record.id)
    perform(context, others)
    context.questions.commit = lambda *_, **__: False  # type: ignore[method-assign]
    perform(context, [last])
    del context.questions.commit
    (task,) = missing(context, record.id)
    assert task.name == "conclude"
    perform(context, [task])
    context.feed.drop(record.id)
    assert jobs.report(record.id, CALLER) == in_process(several)


def test_statistics_are_shared_with_single_comparisons(jobs, context):
    single, other = synthetic(1, segments=40), synthetic(2, segments=50)
    record, _ = jobs.submit(single, CALLER)
    finish(context, record.id)
    several = together(single, other)
    pieces = context.questions.pieces(submitted(jobs, several).id)
    held, new = several.plan.parts
    (metric,) = several.plan.recipe.metrics
    assert pieces.measured == {held.statistics_key(s, metric) for s in range(3)}
    assert not pieces.measured & {new.statistics_key(s, metric) for s in range(3)}


def test_record_names_the_test_sets(jobs, context):
    record = submitted(jobs, small())
    assert record.about.testsets == ("t0", "t1", "t2")
    assert record.about.systems == ("s0", "s1", "s2")
    assert jobs.submit(example(), CALLER)[0].about.testsets == ()


def test_distributions_are_those_of_one_test_set(jobs, context):
    several = small()
    record = submitted(jobs, several)
    finish(context, record.id)
    with pytest.raises(RecipeError, match="t0, t1, t2"):
        jobs.distribution(record.id, CALLER, "s0", "s1", "bleu", "bootstrap", False)
    pair = PairChoice("s2", "s0", "ter", "bootstrap", "t1")
    assert jobs.questions.distribution(record.id, CALLER, pair, False) is None
    run(context, "distribute", [record.id, 1, 2, 0, 1, 1])
    found = jobs.questions.distribution(record.id, CALLER, pair, True)
    expected = distribute(several, "s2", "s0", "ter", "bootstrap", "t1")
    assert found is not None
    assert found.values.tobytes() == expected.values.tobytes()
    assert found.observed == expected.observed
    with pytest.raises(RecipeError, match="t9"):
        jobs.questions.distribution(record.id, CALLER, replace(pair, testset="t9"), False)


def test_texts_go_with_the_comparison(jobs, context):
    several = small()
    record = submitted(jobs, several)
    contents = context.questions.contents(record.id)
    assert KINDS["comparisons"].load(several.plan.as_json(), contents).comparison == several
    jobs.remove(record.id, CALLER)
    with pytest.raises(GoneError):
        context.questions.packed(record.id, ["output-8"])


@pytest.fixture(scope="module")
def hurt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Two workers that nobody else needs."""
    with started(Settings(state=tmp_path_factory.mktemp("state"), block=1000)) as service:
        yield service


def half_way(service: Service, seed: int, pooled: bool) -> tuple[Comparison, Record]:
    """A comparison of which some blocks exist and some are being drawn."""
    several = together(synthetic(seed, **SLOW), synthetic(seed + 1, **SLOW), pooled=pooled)
    record = submitted(service.jobs, several)

    def drawing() -> bool:
        progress = service.jobs.find(record.id, CALLER).progress
        return progress.phase == "resampling" and 0 < progress.done < progress.total

    until(drawing)
    until(service.busy)
    return several, record


def succeeds(service: Service, several: Comparison, record: Record) -> None:
    end = finished(service.jobs, record.id)
    assert end.status is Status.SUCCEEDED, (end.error, end.progress)
    assert service.jobs.report(record.id, CALLER) == in_process(several)


@pytest.mark.slow
@pytest.mark.parametrize("pooled", [False, True])
def test_workers_killed_in_the_middle(hurt, pooled):
    several, record = half_way(hurt, 10, pooled)
    kill(*hurt.caught())
    succeeds(hurt, several, record)


@pytest.mark.slow
def test_lost_pieces_are_computed_again(hurt):
    several, record = half_way(hurt, 20, pooled=False)
    redis = connect(hurt.settings)
    redis.delete(f"sigtest:blocks:{record.id}", *redis.keys("sigtest:cache:*"))
    redis.close()
    succeeds(hurt, several, record)
