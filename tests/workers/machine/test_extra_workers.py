"""One more worker while all have tasks that cannot be cut, and another caller waits."""

import signal
import time
from pathlib import Path

from service import CALLER, children, finished, in_process, kill, send, started, synthetic, until

from workers.machine.extra import LONG_SECONDS
from workers.questions import Status
from workers.settings import Settings

HEAVY = "heavy"  # a caller whose tasks take long


def test_nobody_waits_for_long_tasks_of_others(tmp_path: Path) -> None:
    with started(Settings(state=tmp_path, workers=1)) as service:
        own, _ = service.jobs.submit(synthetic(1), HEAVY)
        horses = service.caught()  # a task that lasts until it is told to go on
        service.jobs.submit(synthetic(2), HEAVY)
        time.sleep(LONG_SECONDS + 1)
        assert service.jobs.workers() == 1  # its caller waits for nobody else

        for small in (synthetic(3), synthetic(4, resamples=9_999)):  # several tasks each
            record, _ = service.jobs.submit(small, CALLER)
            assert finished(service.jobs, record.id).status is Status.SUCCEEDED
            assert service.jobs.report(record.id, CALLER) == in_process(small)
        assert not service.jobs.find(own.id, HEAVY).status.finished
        until(lambda: service.jobs.workers() == 1)

        send(signal.SIGCONT, *horses)
        until(lambda: service.jobs.find(own.id, HEAVY).status is Status.SUCCEEDED)


def test_an_extra_worker_may_die(tmp_path: Path) -> None:
    with started(Settings(state=tmp_path, workers=1)) as service:
        service.jobs.submit(synthetic(1), HEAVY)
        (held,) = service.caught()
        record, _ = service.jobs.submit(synthetic(3), CALLER)
        (horse,) = until(lambda: set(service.caught()) - {held})
        kill(*(worker for worker in service.workers() if horse in children(worker)))
        assert finished(service.jobs, record.id).status is Status.SUCCEEDED
        until(lambda: service.jobs.workers() == 1)
        send(signal.SIGCONT, held)
