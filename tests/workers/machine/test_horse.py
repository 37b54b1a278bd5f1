"""One horse runs many tasks, and goes where that is safer."""

import os
import signal

import pytest
from service import CALLER, Service, called, children, finished, kill, synthetic, until

from workers.machine.horse import GROWTH, TASKS, WAITING, Line, Order, Stamina
from workers.questions import Status


def everybody(service: Service) -> list[int]:
    """The horses of all workers, idle or not."""
    return [horse for worker in service.workers() for horse in children(worker)]


def succeeds(service: Service, seed: int) -> None:
    record, _ = service.jobs.submit(synthetic(seed, segments=30, resamples=99), CALLER)
    assert finished(service.jobs, record.id).status is Status.SUCCEEDED


def test_small_tasks_share_a_horse(service: Service) -> None:
    seen = set()
    for seed in range(8):
        succeeds(service, 7_000 + seed)
        seen |= set(everybody(service))
    assert len(seen) < 8
    until(lambda: {called(horse) for horse in everybody(service)} == {WAITING})


def test_a_horse_that_dies_idle_is_replaced(service: Service) -> None:
    succeeds(service, 7_100)
    until(lambda: {called(horse) for horse in everybody(service)} == {WAITING})
    killed = everybody(service)
    kill(*killed)
    for seed in range(7_101, 7_105):
        succeeds(service, seed)
    assert not set(killed) & set(everybody(service))


def test_a_line_tells_what_is_done_and_when_a_horse_is_gone() -> None:
    line, order = Line(), Order("job", "execution")
    pid = os.fork()
    if not pid:
        line.hold_horse_end()
        os._exit(7 if line.next_order() == order else 1)
    line.hold_worker_end(30.0)
    assert line.done()
    assert line.done()  # to look changes nothing
    assert line.hand_over(order)
    assert not line.done()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    assert not line.hand_over(order)
    line.cut()


def test_a_worker_that_waits_for_its_horse_looks_up_now_and_then() -> None:
    line = Line()
    pid = os.fork()
    if not pid:
        line.hold_horse_end()
        signal.pause()
    line.hold_worker_end(0.01)
    with pytest.raises(TimeoutError):
        line.done()
    kill(pid)
    os.waitpid(pid, 0)
    assert not line.done()
    line.cut()


@pytest.mark.parametrize(("tasks", "growth"), [(TASKS, 0), (1, GROWTH + (64 << 20))])
def test_a_horse_goes_when_it_did_much_or_has_grown(tasks: int, growth: int) -> None:
    pid = os.fork()
    if not pid:  # whose largest size is that at the fork
        stamina = Stamina()
        held = bytearray(growth)
        held[::4096] = b"x" * len(held[::4096])
        lasts = [stamina.lasts() for _ in range(tasks)]
        os._exit(0 if lasts == [True] * (tasks - 1) + [False] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
