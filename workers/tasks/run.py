"""The tasks by name, and what happens when one fails."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from redis.exceptions import OutOfMemoryError, RedisError
from rq.timeouts import JobTimeoutException

from sigtest.errors import SigtestError
from workers.errors import FullError, GoneError, StorageError
from workers.logs import QUESTION, REQUEST
from workers.store.boards import Choice
from workers.store.records import Status
from workers.store.survey import Tallies
from workers.store.task import Task
from workers.tasks import boards, questions, webhooks
from workers.tasks.context import Context

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
        RedisError: The server failed; the task is worth another try. One that has no memory left
            is no fault of the task's, whose start does not count.
        StorageError: The same.
        MemoryError: There was none left, which is worth another try where tries are counted.
        ImportError: See STARVED.
        SystemError: See STARVED.
    """
    task = Task(name, arguments[0], tuple(arguments[1:]))
    QUESTION.set(task.owner)
    request, caller = context.questions.origin(task.owner)
    REQUEST.set(request)
    since = time.monotonic()
    try:
        outcome = _attempt(context, task)
    except (OutOfMemoryError, FullError):
        log.warning("the store is full: task %s waits for room and starts again", task.key)
        with suppress(RedisError):
            forgive(context, task)
        raise
    with suppress(OutOfMemoryError):  # a store that is full still finishes what it has
        with context.questions.progress.end(task.owner, task.key) as pipe:
            seconds = time.monotonic() - since
            Tallies.note(pipe, caller, name, outcome, seconds)
            if caller is not None:
                context.feed.correct(pipe, caller, seconds - predicted)
            context.webhooks.look(pipe)
            *_, due = pipe.execute()
        if due:
            webhooks.hand_out(context)
    return outcome


def _attempt(context: Context, task: Task) -> str:
    """Run a task; how it ended."""
    name = task.name
    try:
        if name not in VIEWS and not _begin(context, task):
            return UNWANTED
        TASKS[name](context, task.owner, *task.arguments)
    except (RedisError, StorageError):
        raise
    except GoneError:
        return UNWANTED  # it was deleted while it was worked on
    except SigtestError as error:
        # its message may quote a text
        log.warning("task %s failed: %s", task.key, type(error).__name__)
        _fail(context, task, error.message)
    except JobTimeoutException:
        limit = context.settings.timeout
        _fail(
            context,
            task,
            f"One task ({name}) took more than {limit} seconds. Ask for fewer systems, metrics or "
            "resamples, or have SIGTEST_TIMEOUT of the service raised.",
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
        )
    else:
        return DONE
    return FAILED


def wanted(context: Context, name: str, arguments: Sequence[Any]) -> bool:
    """Whether there still is what a running task works for."""
    owner = str(arguments[0])
    if name == boards.join.__name__:
        return context.testsets.has(owner, str(arguments[1]))
    if name in VIEWS:
        return True
    return context.questions.unfinished(owner)


def concluded(context: Context, arguments: Sequence[Any]) -> bool:
    """Whether the question of a task has a report, or an error."""
    stored = context.questions.find(str(arguments[0]), how_far=False)
    return stored is not None and stored.record.status in {Status.SUCCEEDED, Status.FAILED}


def _begin(context: Context, task: Task) -> bool:
    """Whether to start the task: its result is wanted.

    Raises:
        SigtestError: It kills workers.
    """
    if task.name == boards.join.__name__:
        attempt = context.testsets.begin(task.owner, str(task.arguments[0]))
    else:
        attempt = context.questions.progress.begin(task.owner, task.key)
    limit = context.settings.attempts
    if attempt > limit:
        raise SigtestError(
            f"One task ({task.name}) was started {limit} times and its worker died each time; "
            "it may need more memory than there is."
        )
    return attempt > 0


def forgive(context: Context, task: Task) -> None:
    """Let a start not count that was cut short from outside, through no fault of the task's."""
    if task.name == boards.join.__name__:
        context.testsets.end(task.owner, str(task.arguments[0]))
    else:
        context.questions.progress.end(task.owner, task.key).execute()


def _fail(context: Context, task: Task, message: str) -> None:
    """Tell the caller why there is no answer."""
    if task.name in VIEWS:
        log.error("task %s: %s", task.key, message)
        if task.name == boards.refresh.__name__:
            context.testsets.settle(task.owner)  # until it is asked for, or something changes
    elif task.name == boards.join.__name__:
        context.testsets.fail(task.owner, str(task.arguments[0]), message)
        boards.refresh(context, task.owner, Choice().spelled)
    else:
        context.questions.commit(task.owner, Status.FAILED, message)
