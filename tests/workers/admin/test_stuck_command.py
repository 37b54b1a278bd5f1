"""`sigtest-admin stuck`: what is unfinished for long, and whether anything works on it."""

import signal

from board import SYSTEMS, board_on
from byhand import missing
from commanded import told
from service import CALLER, Comparisons, Service, send, synthetic, until

from workers.settings import Settings
from workers.tasks.context import Context


def test_what_waits_and_what_is_lost_are_told_apart(
    jobs: Comparisons, context: Context, settings: Settings
) -> None:
    waiting, lost = (
        jobs.submit(synthetic(seed, segments=5), caller)[0].id
        for seed, caller in enumerate(["ann", "bob"])
    )
    for _ in range(3):
        context.questions.progress.begin(lost, missing(context, lost)[0].key)
    context.feed.drop(lost)
    board = board_on(context, "sets")
    board.put("aspen", SYSTEMS["aspen"])
    heading, *lines = told(settings, "stuck", "--seconds", "0")
    assert heading.split() == ["id", "caller", "kind", "seconds", "starts", "state"]
    found = {line.split()[0]: line.split()[1:] for line in lines}
    assert found.keys() == {waiting, lost, board.id}
    assert found[waiting] == ["ann", "comparisons", found[waiting][2], "0", "waiting"]
    assert found[lost] == ["bob", "comparisons", found[lost][2], "3", "lost"]
    assert found[board.id] == ["tester", "testsets", found[board.id][2], "0", "waiting"]
    assert len(told(settings, "stuck")) == 1  # for ten minutes nothing is


def test_what_a_worker_has_is_running(service: Service) -> None:
    long = synthetic(1, segments=1000, systems=12, resamples=999_999)
    record, _ = service.jobs.submit(long, CALLER)
    working: list[int] = []
    try:
        until(lambda: service.jobs.find(record.id, CALLER).progress.phase == "resampling")
        working = service.caught()  # between two tasks it would wait
        _, line = told(service.settings, "stuck", "--seconds", "0")
        assert line.split()[:3] == [record.id, CALLER, "comparisons"]
        assert line.split()[4:] == ["1", "running"]
    finally:
        send(signal.SIGCONT, *working)
        service.jobs.remove(record.id, CALLER)
