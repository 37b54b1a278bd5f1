"""`sigtest-admin drain`: workers finish what they have, and what comes later waits."""

import time

from commanded import told
from service import CALLER, finished, in_process, synthetic, until

from workers.observing import load
from workers.questions import Status


def test_workers_finish_what_they_have_and_take_nothing_new(service, working):
    # each task of it takes about half a second
    long = synthetic(42, segments=1000, systems=6, resamples=999_999)
    short = synthetic(43, segments=30)
    first, _ = service.jobs.submit(long, CALLER)
    until(service.busy)
    try:
        (line,) = told(service.settings, "drain")
        assert line.startswith("drained: workers have 0 tasks, ")
        until(lambda: not service.busy())  # the last one may still be ending
        second, _ = service.jobs.submit(short, CALLER)
        time.sleep(1.5)  # a round of the reconciler, which must leave it alone
        assert not service.busy()
        assert service.jobs.find(second.id, CALLER).status is Status.QUEUED
        assert not service.jobs.find(first.id, CALLER).status.finished
        assert load(working).drained
        assert "drained" in "".join(told(service.settings, "usage"))
    finally:
        assert told(service.settings, "drain", "--end") == ["tasks are handed out"]
    assert finished(service.jobs, second.id).status is Status.SUCCEEDED
    assert service.jobs.report(second.id, CALLER) == in_process(short)
    service.jobs.remove(first.id, CALLER)
    assert not load(working).drained
