"""The tasks by name, and what happens when one fails."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from redis.exceptions import OutOfMemoryError, RedisError
from rq.timeouts import JobTimeoutException

from sigtest.errors import SigtestError
from workers import races, webhooks
from workers.errors import PROBLEM, GoneError, StorageError, problem_of
from workers.process import QUESTION, REQUEST, TOLD
from workers.queue import Context
from workers.store import keys
from workers.store.records import Status, Task
from workers.store.usage import Tallies
from workers.tasks import boards, questions

log = logging.getLogger(__name__)

# All that the queue can name.
TASKS: dict[str, Callable[..., None]] = {
    task.__name__: task
    for task in (
        questions.measure,
        questions.resample,
        questions.conclude,
        questions.attribute,
        questions.distribute,
        boards.join,
        boards.refresh,
        races.look,
        webhooks.deliver,
    )
}
DONE, FAILED, UNWANTED = "done", "failed", "unwanted"  # how a task ended
# What is raised where there is no memory: by Python, by the loader of a library, by one in C.
STARVED = (MemoryError, ImportError, SystemError)
# what they fail to do can be asked for again, or is due again
VIEWS = {"attribute", "deliver", "distribute", "refresh"}


def run(context: Context, name: str, arguments: Sequence[Any], predicted: float = 0.0) -> str:
    """Run a task. What would go wrong again becomes its question's error.

    Args:
        context: The stores and the queue.
        name: Of the task.
        arguments: What it is told.
        predicted: Seconds that its caller's turn was counted with.

    Returns:
        How it ended: DONE, FAILED, or UNWANTED where nothing needs it.

    Raises:
        RedisError: The server failed; the task is worth another try.
        StorageError: The same.
        MemoryError: There was none left, which is worth another try where tries are counted.
        ImportError: See STARVED.
        SystemError: See STARVED.
    """
    task = Task(name, arguments[0], tuple(arguments[1:]))
    QUESTION.set(task.owner)
    unfinished, request, caller = context.questions.start(task.owner)
    REQUEST.set(request)
    since = time.monotonic()
    outcome = _attempt(context, task) if needed(context, task, unfinished) else UNWANTED
    with suppress(OutOfMemoryError):  # a store that is full still finishes what it has
        with context.redis.pipeline() as pipe:
            seconds = time.monotonic() - since
            Tallies.note(pipe, caller, name, outcome, seconds)
            if caller is not None:
                context.feed.correct(pipe, caller, seconds - predicted)
            pipe.zcount(keys.DUE, "-inf", time.time())
            *_, due = pipe.execute()
        if due:
            webhooks.hand_out(context)
    return outcome


def _attempt(context: Context, task: Task) -> str:
    """Run a task; how it ended."""
    name = task.name
    try:
        TASKS[name](context, task.owner, *task.arguments)
    except (RedisError, StorageError):
        raise
    except GoneError:
        return UNWANTED  # it was deleted while it was worked on
    except SigtestError as error:
        # its message may quote a text
        log.warning("task %s failed: %s", task.key, type(error).__name__)
        _fail(context, task, error.message, problem_of(error))
    except JobTimeoutException:
        limit = context.settings.timeout
        _fail(
            context,
            task,
            f"One task ({name}) took more than {limit} seconds. Ask for fewer systems, metrics or "
            "resamples, or have SIGTEST_TIMEOUT of the service raised.",
            {"type": PROBLEM + "task-timeout"},
        )
    except Exception as error:
        if isinstance(error, STARVED) and name not in VIEWS:
            raise  # as if the kernel had killed the worker: others may need less by then
        log.exception("task %s failed", task.key)
        _fail(
            context,
            task,
            f"Internal error in one task ({name}): {type(error).__name__}. This is a fault of the "
            "service; its log says more under the id of this question.",
            {"type": PROBLEM + "internal-error"},
        )
    else:
        return DONE
    return FAILED


def needed(context: Context, task: Task, unfinished: bool | None = None) -> bool:
    """Whether there still is what a task works for.

    Args:
        context: The stores and the queue.
        task: The task.
        unfinished: Whether it works for a question without an outcome, where that is known.
    """
    if task.name == boards.join.__name__:
        return context.testsets.wants(task.owner, str(task.arguments[0]))
    if task.name == races.look.__name__:
        return bool(context.redis.sismember(keys.RACING, task.owner))
    if task.name in VIEWS:
        return True
    return context.questions.unfinished(task.owner) if unfinished is None else unfinished


def concluded(context: Context, task: Task) -> bool:
    """Whether the question of a task has a report, or an error."""
    stored = context.questions.stored(task.owner, how_far=False)
    return stored is not None and stored.status in {Status.SUCCEEDED, Status.FAILED}


def died(context: Context, task: Task) -> None:
    """Count a worker that died with a task; what kills too many of them fails."""
    limit = context.settings.attempts
    if task.name not in TASKS.keys() - VIEWS or not needed(context, task):
        return
    if context.questions.died(task.owner, task.key) < limit:
        return
    message = (
        f"One task ({task.name}) was started {limit} times and its worker died each time; "
        "it may need more memory than there is."
    )
    log.warning("task %s killed its workers", task.key, extra={TOLD: {"question": task.owner}})
    _, _, caller = context.questions.start(task.owner)
    with context.redis.pipeline() as pipe:
        Tallies.note(pipe, caller, task.name, FAILED, 0.0)
        pipe.execute()
    _fail(context, task, message, {"type": PROBLEM + "workers-died"})


def _fail(context: Context, task: Task, message: str, problem: Mapping[str, Any]) -> None:
    """Tell the caller why there is no answer."""
    if task.name in VIEWS:
        log.error("task %s: %s", task.key, message)
        if task.name == boards.refresh.__name__:
            context.testsets.settle(task.owner)  # until it is asked for, or something changes
    elif task.name == boards.join.__name__:
        context.testsets.fail(task.owner, str(task.arguments[0]), message)
        state = context.testsets.stored(task.owner)
        if state is not None:
            context.feed.add(state.caller, [state.refreshing("failed")])
    elif task.name == races.look.__name__:
        log.error("task %s: %s", task.key, message)
        context.redis.srem(keys.RACING, task.owner)  # until it is asked for, or more scores come
    else:
        context.questions.commit(task.owner, Status.FAILED, message, problem=problem)
