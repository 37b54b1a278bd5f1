"""Who is served next: callers in turn, small questions first, and nothing waits for ever."""

import time
from collections.abc import Iterator

import pytest
from byhand import perform, register, waiting
from service import Comparisons, example, synthetic

from sigtest.kinds import KINDS
from workers.queue import NAME, SHORT, Context, Feed
from workers.store.records import Task, owner_of
from workers.tasks.run import TASKS, run

A, B, C, D, E = (letter * 32 for letter in "abcde")


@pytest.fixture
def feed(jobs: Comparisons, context: Context) -> Feed:
    """On a server without workers: the queue of RQ holds one task."""
    return context.feed


def tasks(owner: str, *seconds: float) -> list[Task]:
    return [Task("resample", owner, (i, i + 1), price) for i, price in enumerate(seconds)]


def served(context: Context) -> Iterator[str]:
    """Owners of the tasks in the order in which a single worker would take them."""
    redis = context.questions.redis
    while key := redis.lpop(f"rq:queue:{NAME}"):
        redis.delete(f"rq:job:{key.decode()}")
        yield owner_of(key.decode())
        context.feed.fill()


def test_a_small_question_overtakes_another_callers_two_hundred(jobs, context):
    body = synthetic(1, segments=5).as_json()
    questions = [KINDS["comparisons"].parse({**body, "seed": seed}) for seed in range(200)]
    crowd = {jobs.questions.submit("comparisons", q, "crowd")[0].id for q in questions}
    late, _ = jobs.submit(synthetic(2, segments=5), "late")
    order = served(context)
    first = [next(order) for _ in range(3)]
    assert late.id in first
    assert set(first) - {late.id} <= crowd
    assert len(set(order)) == 198


def test_a_caller_with_one_question_is_not_held_up_by_one_with_many(feed, context):
    for i in range(40):
        feed.add("crowd", tasks(f"{i:032x}", *[1.0] * 5))
    feed.add("late", tasks(B, 1.0, 1.0, 1.0))
    order = list(served(context))
    assert max(i for i, owner in enumerate(order) if owner == B) <= 6  # every second one
    assert len(order) == 203


def test_callers_share_by_seconds_not_by_tasks(feed, context):
    feed.add("coarse", tasks(A, *[5.0] * 10))
    feed.add("fine", tasks(B, *[0.5] * 100))
    order = list(served(context))[:33]
    assert 2 <= order.count(A) <= 4


def test_callers_share_by_what_tasks_took(feed, context, monkeypatch):
    """A system that joins a leaderboard is priced alike, whatever its test set asks for."""
    taken = {A: 0.05, B: 0.001}
    monkeypatch.setitem(TASKS, "resample", lambda _, owner, *__: time.sleep(taken[owner]))
    monkeypatch.setattr("workers.tasks.run.needed", lambda *_: True)
    for caller, owner in (("slow", A), ("quick", B)):
        context.questions.redis.set(f"sigtest:gone:{owner}", caller)
        feed.add(caller, tasks(owner, *[0.01] * 40))
    order = []
    for owner in served(context):
        run(context, "resample", [owner, 0, 1], 0.01)
        order.append(owner)
    assert order[:20].count(A) <= 3
    assert order.count(A) == order.count(B) == 40


def test_who_comes_late_is_not_paid_for_having_been_away(feed, context):
    feed.add("early", tasks(A, *[1.0] * 60))
    order = served(context)
    assert {next(order) for _ in range(20)} == {A}
    feed.add("late", tasks(B, *[1.0] * 60))
    following = [next(order) for _ in range(20)]
    assert 9 <= following.count(B) <= 11


def test_small_questions_of_a_caller_come_first(feed, context):
    feed.add("one", tasks(A, *[10.0] * 4))
    feed.add("one", tasks(B, 0.1))
    feed.add("one", tasks(C, 3.0))
    order = list(served(context))
    assert order == [A, B, C, A, A, A]  # the first was handed out before the others came


def test_what_grows_while_it_waits_is_no_small_question(feed, context):
    """Sixty systems that come to a leaderboard one by one; a comparison of the same caller."""
    joins = tasks(A, *[0.5] * 60)
    for join in joins:
        feed.add("one", [join])
    feed.add("one", joins[-1:])  # waits already
    order = served(context)
    first = [next(order) for _ in range(10)]
    feed.add("one", tasks(B, 0.1))
    assert first == [A] * 10
    assert B in [next(order) for _ in range(2)]
    assert list(order) == [A] * 49


def test_a_large_question_does_not_wait_for_ever(feed, context):
    feed.add("one", tasks(f"{999:032x}", 1.0))
    feed.add("one", tasks(A, 30.0))
    order = served(context)
    seen = []
    for i in range(200):  # a small one comes whenever a small one ends
        feed.add("one", tasks(f"{i:032x}", 1.0))
        seen.append(next(order))
        if seen[-1] == A:
            break
    assert 20 <= len(seen) <= 40


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_the_queue_holds_no_more_than_one_task_a_worker(feed, context, workers):
    redis, most = context.questions.redis, max(1, workers)
    for i in range(workers):
        register(redis, str(i))
    for i in range(20):
        feed.add(f"caller {i % 4}", tasks(f"{i:032x}", 0.5, 0.5))
        assert redis.llen(f"rq:queue:{NAME}") == min(most, 2 * (i + 1))
    for _ in range(40):
        redis.lpop(f"rq:queue:{NAME}")
        feed.fill()
        assert redis.llen(f"rq:queue:{NAME}") <= most
    assert not feed.waiting()


def test_equal_tasks_wait_once(feed, context):
    feed.add("other", tasks(B, 1.0))  # takes the room in the queue
    for _ in range(3):
        feed.add("one", tasks(A, 1.0, 1.0))
    assert context.questions.redis.llen(f"sigtest:tasks:{A}") == 2
    assert list(served(context)) == [B, A, A]


def test_a_leaderboards_views_wait_once(jobs, context):
    record, _ = jobs.submit(example(), "one")
    task = Task("refresh", A, ("ff", record.id), 0.1)
    for _ in range(50):
        context.feed.add("one", [task])
    assert sum(key.startswith(A) for key in waiting(context)) == 1
    assert context.questions.redis.llen(f"sigtest:tasks:{A}") <= 1


def test_dropping_a_question_leaves_the_others(feed, context):
    for owner in (A, B, C):
        feed.add("one", tasks(owner, 1.0, 1.0))
    feed.drop(A)
    feed.drop(B)
    assert list(served(context)) == [C, C]
    redis = context.questions.redis
    assert not redis.keys("sigtest:waiting*")
    assert not redis.keys("sigtest:tasks:*")


def test_tasks_fill_the_queue_when_one_ends(jobs, context):
    jobs.submit(example(seed=1), "one")
    jobs.submit(example(seed=2), "two")
    (queued,) = context.feed.jobs.alive()
    redis = context.questions.redis
    redis.delete(f"rq:queue:{NAME}", f"rq:job:{queued}")
    perform(context, [Task("measure", owner_of(queued), (0, 5))])
    assert len(context.feed.jobs.alive()) == 1


@pytest.mark.parametrize("state", ["runs", "was taken"])
def test_nothing_is_handed_out_ahead_of_a_worker_that_is_busy(feed, context, state):
    redis = context.questions.redis
    for worker, task in (("first", "one"), ("second", "other")):
        register(redis, worker, task if state == "runs" else "")
        if state == "was taken":
            redis.rpush(f"rq:queue:{NAME}:intermediate", task)
    feed.add("loud", tasks(A, *[1.0] * 10))
    assert redis.llen(f"rq:queue:{NAME}") == 0
    feed.add("quiet", tasks(B, 0.1))
    register(redis, "first")
    redis.lrem(f"rq:queue:{NAME}:intermediate", 0, "one")
    feed.fill()
    assert [owner_of(key.decode()) for key in redis.lrange(f"rq:queue:{NAME}", 0, -1)] == [B]


def test_a_worker_whose_record_expired_holds_nothing_up(feed, context):
    redis = context.questions.redis
    register(redis, "only", "lost")
    redis.delete("rq:worker:only")
    feed.add("one", tasks(A, 1.0))
    assert redis.llen(f"rq:queue:{NAME}") == 1


@pytest.mark.parametrize("late", [f"caller {i}" for i in range(5)])
def test_who_comes_is_served_before_who_was_there(feed, context, late):
    """Whatever their names: those who have had as much are served in the order of these."""
    feed.add("crowd", tasks(A, *[1.0] * 10))
    feed.add(late, tasks(B, 1.0))
    assert list(served(context))[:2] == [A, B]  # the first was handed out before


def test_a_drain_takes_back_what_waits_for_the_first_worker_that_comes(jobs, context, feed):
    asked = {jobs.submit(synthetic(seed, segments=5), "ann")[0].id for seed in (1, 2)}
    before, _ = feed.depth()
    assert feed.jobs.busy()
    feed.drain()
    assert not feed.jobs.busy()
    register(context.questions.redis, "comes")
    feed.fill()
    assert list(served(context)) == []
    assert feed.waiting() == asked
    assert feed.depth()[0] == before
    feed.resume()
    order = list(served(context))
    assert set(order) == asked
    assert len(order) == before


def queued(context: Context, queue: str = NAME) -> list[str]:
    """Owners of the tasks that workers may take."""
    found = context.questions.redis.lrange(f"rq:queue:{queue}", 0, -1)
    return [owner_of(key.decode()) for key in found]


def held(feed: Feed, context: Context, caller: str) -> None:
    """Let a task of a caller hold the only worker."""
    feed.add(caller, tasks(A, 60.0))
    key = context.redis.lpop(f"rq:queue:{NAME}").decode()
    register(context.redis, "only", key)
    feed.hold([key])


def test_short_tasks_do_not_wait_while_another_callers_long_ones_hold_all_workers(feed, context):
    redis = context.questions.redis
    register(redis, "only")
    register(redis, "short", queue=SHORT)
    held(feed, context, "heavy")
    feed.add("heavy", tasks(B, 60.0, 0.5))
    feed.add("heavy", tasks(C, 0.5))  # which must not take others' place, too
    assert queued(context, SHORT) == []
    feed.add("light", tasks(D, 0.5))
    assert queued(context, SHORT) == [D]
    feed.add("lighter", tasks(E, 0.5))
    assert queued(context, SHORT) == [D]  # one at a time
    redis.delete(f"rq:queue:{SHORT}")
    register(redis, "short", "other", queue=SHORT)
    feed.fill()
    assert queued(context, SHORT) == []
    register(redis, "short", queue=SHORT)
    feed.fill()
    assert queued(context, SHORT) == [E]
    assert queued(context) == []
    assert feed.waiting() == {B, C}


def test_tiny_tasks_wait_for_no_worker(feed, context):
    redis = context.questions.redis
    register(redis, "only", "other")
    register(redis, "short", queue=SHORT)
    feed.add("heavy", tasks(B, *[0.5] * 9))
    feed.add("light", tasks(C, 0.21))
    assert queued(context, SHORT) == []
    feed.add("lighter", tasks(D, 0.19))
    assert queued(context, SHORT) == [D]
    assert queued(context) == []
    register(redis, "only")
    feed.fill()
    assert queued(context) == [C]  # of the caller who came last and had nothing yet


def test_short_tasks_wait_for_their_turn_while_nothing_holds_all_workers(feed, context):
    redis = context.questions.redis
    register(redis, "only", "other")
    register(redis, "short", queue=SHORT)
    feed.add("light", tasks(C, 0.5))
    assert queued(context, SHORT) == queued(context) == []
    register(redis, "only")
    feed.hold([])
    assert queued(context) == [C]
    assert queued(context, SHORT) == []
