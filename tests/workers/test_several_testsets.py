"""Suites in the workers: the library's report, whatever the cut and whoever dies."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from byhand import finish, missing, perform
from service import CALLER, Comparisons, Service, example, finished, kill, started, synthetic, until

from sigtest.comparison.comparison import CONTENT, Comparison
from sigtest.comparison.comparison.suite import Suite
from sigtest.errors import RecipeError
from sigtest.render import json
from sigtest.suite_engine import compare_suite
from workers.errors import GoneError
from workers.questions import Comparisons, Record, Status
from workers.settings import Settings
from workers.store.pieces import Cut
from workers.store.server import connect
from workers.tasks.context import Context
from workers.work import parts, plan_of

SLOW = {"segments": 800, "systems": 5, "metrics": ["bleu", "chrf"], "resamples": 20_000}


def suite_of(*comparisons: Comparison, **fields: Any) -> Suite:
    """These comparisons, under the names t0, t1 and so on, by the recipe of the first."""
    bodies = [comparison.as_json() for comparison in comparisons]
    testsets = [
        {"name": f"t{t}", **{field: body[field] for field in CONTENT if field in body}}
        for t, body in enumerate(bodies)
    ]
    return Suite.of({"testsets": testsets, **comparisons[0].recipe.as_json(), **fields})


def small(**fields: Any) -> Suite:
    choices = {"metrics": ["bleu", "ter"], "tests": ["approximate_randomization", "bootstrap"]}
    made = [synthetic(seed, segments=40 + 30 * seed, **choices) for seed in range(3)]
    return suite_of(*made, **fields)


def in_process(suite: Suite) -> bytes:
    return json.render(compare_suite(suite)).encode()


def submitted(jobs: Comparisons, suite: Suite) -> Record:
    return jobs.submit(suite, CALLER)[0]


@pytest.mark.parametrize("block", [64, 700, None])
@pytest.mark.parametrize("pooled", [False, True])
def test_workers_equal_one_process(service: Service, pooled: bool, block: int | None) -> None:
    suite = small(pooled=pooled, exact="never")
    jobs = Comparisons.connect(replace(service.settings, block=block))
    record = finished(jobs, submitted(jobs, suite).id)
    assert record.status is Status.SUCCEEDED, record.error
    assert jobs.report(record.id, CALLER) == in_process(suite)
    jobs.remove(record.id, CALLER)
    jobs.close()


def test_request_and_plan_survive_json() -> None:
    suite = small(pooled=True, alternative="less")
    again = Suite.of(suite.as_json())
    assert again == suite
    assert plan_of(suite.plan.as_json()) == suite.plan == again.plan


@pytest.mark.parametrize(
    "change",
    [{"pooled": True}, {"seed": 1}, {"metrics": ["ter"]}, {"alternative": "greater"}],
)
def test_keys_tell_suites_apart(change: dict[str, Any]) -> None:
    body = small().as_json()
    assert Suite.of({**body, **change}).plan.key != small().plan.key
    renamed = [{**testset, "name": "x" + testset["name"]} for testset in body["testsets"]]
    assert Suite.of({**body, "testsets": renamed}).plan.key != small().plan.key
    assert Suite.of({**body, "testsets": body["testsets"][::-1]}).plan.key != small().plan.key


@pytest.mark.parametrize("workers", [1, 4])
def test_cut_covers_every_output_of_every_test_set(workers: int) -> None:
    plan = small(resamples=99_999).plan
    large = replace(plan, plans=tuple(replace(own, segments=50_000) for own in plan.plans))
    cut = Cut.of(large, workers)
    assert [o for first, last in cut.batches for o in range(first, last)] == list(range(9))
    assert len(cut.batches) >= workers
    assert len(set(cut.distinct_keys)) == 9 * 2
    drawn = [r for start, stop in cut.blocks for r in range(start, stop)]
    assert drawn == list(range(99_999))


def test_tasks_done_twice_and_in_any_order_change_nothing(
    jobs: Comparisons, context: Context
) -> None:
    suite = small()
    record = submitted(jobs, suite)
    tasks = missing(context, record.id)
    perform(context, tasks)
    blocks = missing(context, record.id)  # who measured has drawn the first
    assert [task.arguments for task in blocks] == [(r, r + 500) for r in range(500, 2000, 500)]
    perform(context, [blocks[2], blocks[2]])
    assert jobs.find(record.id, CALLER).progress.done == 1000
    perform(context, [*tasks, *blocks, *tasks])
    context.feed.jobs.drop(record.id)
    assert jobs.report(record.id, CALLER) == in_process(suite)


def test_lost_report_is_concluded(jobs: Comparisons, context: Context) -> None:
    suite = small(pooled=True)
    record = submitted(jobs, suite)
    perform(context, missing(context, record.id))
    *others, last = missing(context, record.id)
    perform(context, others)
    context.questions.commit = lambda *_, **__: False  # type: ignore[method-assign]
    perform(context, [last])
    del context.questions.commit
    (task,) = missing(context, record.id)
    assert task.name == "conclude"
    perform(context, [task])
    context.feed.jobs.drop(record.id)
    assert jobs.report(record.id, CALLER) == in_process(suite)


def test_statistics_are_shared_with_single_comparisons(jobs: Comparisons, context: Context) -> None:
    single, other = synthetic(1, segments=40), synthetic(2, segments=50)
    record, _ = jobs.submit(single, CALLER)
    finish(context, record.id)
    suite = suite_of(single, other)
    pieces = context.questions.pieces(submitted(jobs, suite).id)
    held, new = parts(suite.plan)
    (metric,) = suite.plan.recipe.metrics
    assert pieces.measured == {held.statistics_key(s, metric) for s in range(3)}
    assert not pieces.measured & {new.statistics_key(s, metric) for s in range(3)}


def test_record_names_the_test_sets(jobs: Comparisons, context: Context) -> None:
    record = submitted(jobs, small())
    assert record.testsets == ("t0", "t1", "t2")
    assert record.about.systems == ("s0", "s1", "s2")
    assert jobs.submit(example(), CALLER)[0].testsets == ()
    finish(context, record.id)
    with pytest.raises(RecipeError, match="one test set"):
        jobs.distribution(record.id, CALLER, "s0", "s1", "bleu", "bootstrap", False)


def test_texts_go_with_the_comparison(jobs: Comparisons, context: Context) -> None:
    suite = small()
    record = submitted(jobs, suite)
    for t, comparison in enumerate(suite.comparisons):
        assert context.questions.testset(record.id, t) == comparison.entries[0].testset
        for s, system in enumerate(comparison.entries[0].systems):
            assert context.questions.system(record.id, 3 * t + s) == system
    jobs.remove(record.id, CALLER)
    with pytest.raises(GoneError):
        context.questions.system(record.id, 8)


@pytest.fixture(scope="module")
def hurt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Two workers that nobody else needs."""
    with started(Settings(state=tmp_path_factory.mktemp("state"), block=1000)) as service:
        yield service


def half_way(service: Service, seed: int, pooled: bool) -> tuple[Suite, Record]:
    """A suite of which some blocks exist and some are being drawn."""
    suite = suite_of(synthetic(seed, **SLOW), synthetic(seed + 1, **SLOW), pooled=pooled)
    record = submitted(service.jobs, suite)

    def drawing() -> bool:
        progress = service.jobs.find(record.id, CALLER).progress
        return progress.phase == "resampling" and 0 < progress.done < progress.total

    until(drawing)
    until(service.horses)
    return suite, record


def succeeds(service: Service, suite: Suite, record: Record) -> None:
    end = finished(service.jobs, record.id)
    assert end.status is Status.SUCCEEDED, (end.error, end.progress)
    assert service.jobs.report(record.id, CALLER) == in_process(suite)


@pytest.mark.parametrize("pooled", [False, True])
def test_horses_killed_in_the_middle(hurt: Service, pooled: bool) -> None:
    suite, record = half_way(hurt, 10, pooled)
    kill(*hurt.horses())
    succeeds(hurt, suite, record)


def test_lost_pieces_are_computed_again(hurt: Service) -> None:
    suite, record = half_way(hurt, 20, pooled=False)
    redis = connect(hurt.settings)
    redis.delete(f"sigtest:blocks:{record.id}", *redis.keys("sigtest:statistics:*"))
    redis.close()
    succeeds(hurt, suite, record)
