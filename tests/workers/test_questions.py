"""What the front end may rely on."""

import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from byhand import finish, waiting
from service import CALLER, Comparisons, example, finished, synthetic, until

from sigtest.comparison.comparison import parse_comparison
from sigtest.draws.distribution import distribution, pair_of
from sigtest.engine import measure
from sigtest.errors import InputError, RecipeError
from sigtest.kinds.comparisons import ComparisonQuestion
from sigtest.requests.notes import Noted
from workers.errors import (
    BusyError,
    ConflictError,
    CostlyError,
    GoneError,
    NotFoundError,
    NotReadyError,
    StorageError,
)
from workers.questions import Record, Status
from workers.queue import Context
from workers.settings import Settings
from workers.tasks.run import run

OTHER = "somebody else"


def short_lived(context: Context, **changes: int) -> Comparisons:
    settings = context.settings.model_copy(update=changes)
    return Comparisons.connect(settings)


def test_equal_content_is_one_comparison(jobs):
    record, created = jobs.submit(example(), CALLER)
    assert created
    assert jobs.submit(example(), CALLER) == (record, False)
    assert jobs.listing(CALLER, None, 10) == ([record], None)


def test_what_is_deleted_while_it_is_asked_again_is_accepted_anew(jobs, context, monkeypatch):
    record, _ = jobs.submit(example(), CALLER)

    store = jobs.questions
    describe = store.describe

    def deleted_before(question_id: str, caller: str, said: Noted) -> Record:
        if context.questions.stored(question_id) is not None:
            context.questions.delete(question_id, CALLER)
        return describe(question_id, caller, said)

    monkeypatch.setattr(store, "describe", deleted_before)
    again, created = jobs.submit(example(), CALLER)
    assert (again.id, created) == (record.id, True)
    assert jobs.find(record.id, CALLER).status is Status.QUEUED


def test_what_ends_while_it_is_cancelled_is_kept_where_only_the_unfinished_is_meant(
    jobs, context, monkeypatch
):
    record, _ = jobs.submit(example(), CALLER)
    seen = jobs.find(record.id, CALLER).etag
    store = jobs.questions
    commit = store.commit

    def ended_before(question_id: str, outcome: Status) -> bool:
        finish(context, question_id)
        return commit(question_id, outcome)

    def check(etag: str) -> None:
        if etag != seen:
            raise ConflictError("It has changed.")

    monkeypatch.setattr(store, "commit", ended_before)
    with pytest.raises(ConflictError):
        jobs.questions.remove(record.id, CALLER, check)
    assert jobs.report(record.id, CALLER)
    assert jobs.remove(record.id, CALLER) is None
    assert gone(jobs, record.id, GoneError)


def test_all_who_share_a_report_at_the_same_time_get_its_one_link(jobs, context):
    record, _ = jobs.submit(example(), CALLER)
    finish(context, record.id)
    with ThreadPoolExecutor(8) as pool:
        links = list(pool.map(lambda _: jobs.questions.share(record.id, CALLER), range(16)))
    assert len(set(links)) == 1
    assert jobs.questions.linked(links[0].word) == links[0]
    assert links[0].name == record.id
    jobs.questions.unshare(record.id)
    assert jobs.questions.share(record.id, CALLER) != links[0]


def test_content_decides(jobs):
    records = [
        jobs.submit(comparison, caller)[0]
        for comparison, caller in (
            (example(), CALLER),
            (example(), OTHER),
            (example(seed=0), CALLER),
            (example(alpha=0.01), CALLER),
            (synthetic(1), CALLER),
        )
    ]
    assert len({record.id for record in records}) == 5
    assert all(len(record.id) == 32 for record in records)


def test_idempotency_key_stands_for_one_content(jobs):
    record, created = jobs.submit(example(), CALLER, "key")
    assert created
    assert jobs.submit(example(), CALLER, "key") == (record, False)
    with pytest.raises(ConflictError):
        jobs.submit(example(seed=1), CALLER, "key")
    assert jobs.submit(example(seed=1), OTHER, "key")[1]
    assert jobs.listing(CALLER, None, 10) == ([record], None)


def test_record_says_what_is_compared(jobs):
    before = time.time()
    record, _ = jobs.submit(example(metrics=["bleu", "ter"], tests=["bootstrap"]), CALLER)
    assert record.about.systems == ("aspen", "birch", "cedar", "dogwood", "elm")
    assert record.about.metrics == ("bleu", "ter")
    assert record.about.tests == ("bootstrap",)
    assert record.status is Status.QUEUED
    assert before <= record.created_at <= time.time()
    assert record.expires_at == pytest.approx(record.created_at + 7 * 86_400, abs=1)
    assert record.error is None


def test_etag_changes_with_the_record(jobs, context):
    record, _ = jobs.submit(example(), CALLER)
    assert jobs.find(record.id, CALLER).etag == record.etag
    finish(context, record.id)
    assert jobs.find(record.id, CALLER).etag != record.etag


@pytest.mark.parametrize(
    "ask",
    [
        lambda jobs, name: jobs.find(name, OTHER),
        lambda jobs, name: jobs.report(name, OTHER),
        lambda jobs, name: jobs.remove(name, OTHER),
        lambda jobs, name: jobs.distribution(name, OTHER, "a", "b", "bleu", "bootstrap", False),
        lambda jobs, name: jobs.find("0" * 32, CALLER),
        lambda jobs, name: jobs.find("no id:*\n", CALLER),
    ],
)
def test_others_are_told_nothing(jobs, context, ask):
    record, _ = jobs.submit(example(), CALLER)
    finish(context, record.id)
    with pytest.raises(NotFoundError) as caught:
        ask(jobs, record.id)
    assert type(caught.value) is NotFoundError


def test_listing_is_paged_newest_first(jobs):
    comparison = synthetic(1, segments=5)
    body = comparison.as_json()
    submitted = [jobs.submit(parse_comparison({**body, "seed": s}), CALLER)[0] for s in range(7)]
    jobs.submit(comparison, OTHER)
    seen, cursor = jobs.listing(CALLER, None, 3)
    while cursor:
        page, cursor = jobs.listing(CALLER, cursor, 3)
        seen += page
    assert seen == submitted[::-1]


def test_listing_leaves_out_what_is_gone(jobs, context):
    records = [jobs.submit(example(seed=s), CALLER)[0] for s in range(4)]
    for record in records[1:3]:
        finish(context, record.id)
    jobs.remove(records[1].id, CALLER)
    context.questions.redis.delete(f"sigtest:question:{records[2].id}")
    page, cursor = jobs.listing(CALLER, None, 2)
    assert [record.id for record in page] == [records[3].id, records[0].id]
    assert cursor is None


def test_a_listing_that_nobody_looks_at_loses_what_has_expired(jobs, context):
    redis = context.questions.redis
    for seed in range(12):
        record, _ = jobs.submit(example(seed=seed), CALLER)
        redis.delete(f"sigtest:question:{record.id}")
    (listing,) = redis.keys("sigtest:listing:*")
    assert redis.zcard(listing) <= 3


def test_listing_refuses_other_cursors(jobs):
    with pytest.raises(InputError):
        jobs.listing(CALLER, "2", 10)


def test_cancelled_comparison_runs_again(jobs, context):
    record, _ = jobs.submit(example(), CALLER)
    cancelled = jobs.remove(record.id, CALLER)
    assert cancelled is not None
    assert cancelled.status is Status.CANCELLED
    assert jobs.find(record.id, CALLER) == cancelled
    assert not waiting(context)
    assert not context.questions.redis.exists(f"sigtest:contents:{record.id}")
    with pytest.raises(NotReadyError):
        jobs.report(record.id, CALLER)
    again, created = jobs.submit(example(), CALLER)
    assert created
    assert again.status is Status.QUEUED
    assert waiting(context)
    assert [r.id for r in jobs.listing(CALLER, None, 10)[0]] == [record.id]


def test_deleted_comparison_is_gone(jobs, context):
    record, _ = jobs.submit(example(), CALLER)
    finish(context, record.id)
    assert jobs.remove(record.id, CALLER) is None
    for ask in (jobs.find, jobs.report, jobs.remove):
        with pytest.raises(GoneError):
            ask(record.id, CALLER)
    with pytest.raises(NotFoundError) as caught:
        jobs.find(record.id, OTHER)
    assert not isinstance(caught.value, GoneError)
    assert jobs.listing(CALLER, None, 10) == ([], None)
    assert jobs.submit(example(), CALLER)[1]
    assert jobs.find(record.id, CALLER).status is Status.QUEUED


def test_expired_comparison_is_gone_and_then_unknown(jobs, context):
    brief = short_lived(context, retention=4, remembrance=2)
    record, _ = brief.submit(example(), CALLER)
    finish(context, record.id)
    assert brief.report(record.id, CALLER)
    until(lambda: gone(brief, record.id, GoneError))
    assert brief.listing(CALLER, None, 10) == ([], None)
    until(lambda: not gone(brief, record.id, GoneError))
    assert gone(brief, record.id, NotFoundError)
    assert not context.questions.redis.keys(f"*{record.id}*")
    brief.close()


def gone(jobs: Comparisons, comparison_id: str, kind: type[Exception]) -> bool:
    try:
        jobs.find(comparison_id, CALLER)
    except NotFoundError as error:
        return isinstance(error, kind)
    return False


def test_too_many_unfinished_comparisons(context):
    narrow = short_lived(context, pending=2)
    records = [narrow.submit(example(seed=s), CALLER)[0] for s in range(2)]
    with pytest.raises(BusyError) as caught:
        narrow.submit(example(seed=2), CALLER)
    assert caught.value.limit == "SIGTEST_PENDING"
    assert narrow.submit(example(seed=1), CALLER) == (records[1], False)
    finish(context, records[0].id)
    assert narrow.submit(example(seed=2), CALLER)[1]
    narrow.close()


def test_pending_questions_of_others_do_not_count(context):
    narrow = short_lived(context, pending=1)
    assert narrow.submit(example(), CALLER)[1]
    assert narrow.submit(example(), OTHER)[1]
    for caller in (CALLER, OTHER):
        with pytest.raises(BusyError):
            narrow.submit(example(seed=1), caller)
    narrow.close()


def test_predicted_seconds_of_a_caller_are_bounded(context):
    body = synthetic(1, segments=200, systems=6, resamples=999_999).as_json()
    one, two, three = (parse_comparison({**body, "seed": seed}) for seed in range(3))
    seconds = ComparisonQuestion(one).seconds
    assert seconds > 1
    narrow = short_lived(context, budget=math.ceil(2 * seconds))
    records = [narrow.submit(comparison, CALLER)[0] for comparison in (one, two)]
    with pytest.raises(BusyError, match="predicted to take") as caught:
        narrow.submit(three, CALLER)
    assert caught.value.limit == "SIGTEST_BUDGET"
    assert narrow.submit(two, CALLER) == (records[1], False)
    assert narrow.submit(three, OTHER)[1]
    narrow.remove(records[0].id, CALLER)
    assert narrow.submit(three, CALLER)[1]
    narrow.close()


def test_a_question_beyond_the_budget_is_refused_with_the_figures(context):
    comparison = synthetic(1, segments=200, systems=6, resamples=999_999)
    seconds = ComparisonQuestion(comparison).seconds
    assert seconds > 2
    narrow = short_lived(context, budget=2)
    with pytest.raises(CostlyError, match=f"{seconds:,.0f} seconds of one core") as caught:
        narrow.submit(comparison, CALLER)
    assert caught.value.predicted["seconds"] == seconds
    assert caught.value.predicted["accepted_seconds"] == 2
    assert narrow.submit(example(), CALLER)[1]  # nothing of the other one is left
    narrow.close()


def test_bytes_of_a_caller_are_bounded(context):
    one, two = (example(seed=seed, resamples=20_000, tests=["bootstrap"]) for seed in range(2))
    scores = 8 * 5 * 20_000
    narrow = short_lived(context, room=2 * scores)
    assert narrow.submit(one, CALLER)[1]
    with pytest.raises(BusyError, match="bytes in the store") as caught:
        narrow.submit(two, CALLER)
    assert caught.value.limit == "SIGTEST_ROOM"
    assert caught.value.predicted["bytes"] > scores
    assert caught.value.seconds >= 1
    assert narrow.submit(two, OTHER)[1]
    with pytest.raises(CostlyError, match="bytes in the store"):
        narrow.submit(example(resamples=100_000, tests=["bootstrap"]), CALLER)
    narrow.close()


@pytest.mark.parametrize("end", [Status.FAILED, Status.CANCELLED, Status.SUCCEEDED, None])
def test_what_ended_no_longer_counts(jobs, context, end):
    record, _ = jobs.submit(example(), CALLER)
    redis = context.questions.redis
    (held,) = redis.keys("sigtest:pending:*")
    seconds, size = redis.hvals(held)[0].split()
    assert float(seconds) == pytest.approx(ComparisonQuestion(example()).seconds)
    assert int(size) > 8 * 5 * 2000  # a score of every system and resample, and the texts
    if end is None:
        context.questions.delete(record.id, CALLER)
    else:
        context.questions.commit(record.id, end, report=b"{}")
    assert not redis.keys("sigtest:pending:*")


def test_distribution_is_computed_on_demand(service):
    comparison = example(tests=["approximate_randomization", "bootstrap"], metrics=["bleu", "ter"])
    record, _ = service.jobs.submit(comparison, CALLER)
    finished(service.jobs, record.id)
    asked = (record.id, CALLER, "elm", "birch", "ter", "bootstrap")
    assert service.jobs.distribution(*asked, False) is None
    drawn = until(lambda: service.jobs.distribution(*asked, True))
    pair, systems = pair_of(comparison.plan.parts[0], "elm", "birch", "ter", "bootstrap")
    texts = [comparison.entries[0].systems[s] for s in systems]
    metric = comparison.recipe.metrics[1]
    table = np.stack([measure(comparison.entries[0].testset, text, metric) for text in texts])
    expected = distribution(pair, [table], "ter")
    assert np.array_equal(drawn.values, expected.values)
    assert vars(replace(drawn, values=expected.values)) == vars(expected)


def test_distribution_does_not_need_the_cache(jobs, context):
    record, _ = jobs.submit(example(), CALLER)
    finish(context, record.id)
    context.questions.redis.delete(*context.questions.redis.keys("sigtest:cache:*"))
    asked = (record.id, CALLER, "aspen", "elm", "bleu", "approximate_randomization")
    assert jobs.distribution(*asked, True) is None
    assert not waiting(context)
    assert jobs.distribution(*asked, False) is None
    (task,) = waiting(context)
    assert task == f"{record.id}-distribute-0-0-4-0-0"
    run(context, "distribute", [record.id, 0, 0, 4, 0, 0])
    drawn = jobs.distribution(*asked, True)
    assert drawn is not None
    assert len(drawn.values) == 2000


def test_distribution_of_what_is_not_compared(jobs, context):
    record, _ = jobs.submit(example(), CALLER)
    with pytest.raises(NotReadyError):
        jobs.distribution(record.id, CALLER, "elm", "birch", "bleu", "bootstrap", False)
    finish(context, record.id)
    for a, metric, test in (
        ("oak", "bleu", "approximate_randomization"),
        ("elm", "ter", "approximate_randomization"),
        ("elm", "bleu", "bootstrap"),
    ):
        with pytest.raises(RecipeError):
            jobs.distribution(record.id, CALLER, a, "birch", metric, test, False)


def test_check_and_workers(service, jobs):
    jobs.check()
    assert jobs.workers() == 0
    assert service.jobs.workers() == 2


def test_absent_server_is_told_apart(tmp_path):
    jobs = Comparisons.connect(Settings(state=tmp_path))
    with pytest.raises(StorageError):
        jobs.check()
    jobs.close()
