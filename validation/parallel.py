"""Tasks spread over processes; results come back in the order of the tasks."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from typing import TypeVar

from threadpoolctl import threadpool_limits

Task = TypeVar("Task")
Answer = TypeVar("Answer")


def spread(work: Callable[[Task], Answer], tasks: Sequence[Task], workers: int) -> list[Answer]:
    """`work` of every task; tasks carry all they need, their seeds included."""
    if workers == 1 or len(tasks) == 1:
        return [work(task) for task in tasks]
    # Forked workers share the populations' memory; kernels and BLAS are held to one thread.
    context = multiprocessing.get_context("fork")
    with context.Pool(workers, initializer=one_thread) as pool:
        return pool.map(work, tasks, chunksize=1)


def one_thread() -> None:
    """Hold BLAS to one thread for the life of this process."""
    threadpool_limits(1)


def runs(total: int, length: int) -> list[tuple[int, int]]:
    """Cut 0 to `total` into runs."""
    return [(first, min(first + length, total)) for first in range(0, total, length)]
