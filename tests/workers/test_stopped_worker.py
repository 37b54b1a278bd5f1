"""A machine that was stopped for longer than its workers may be silent serves when it goes on."""

import signal

import pytest
from service import CALLER, finished, send, started, synthetic, until

from workers.questions import Status
from workers.settings import Settings

SLOW = {"segments": 1500, "systems": 6, "metrics": ["bleu", "chrf"], "resamples": 299_999}


@pytest.mark.parametrize("busy", [False, True])
def test_workers_that_were_stopped_are_listed_again_and_work(tmp_path, busy):
    with started(Settings(state=tmp_path, workers=1, block=999_999)) as service:
        if busy:
            slow, _ = service.jobs.submit(synthetic(2, **SLOW), CALLER)
            until(service.busy)
        stopped = [service.supervisor(), *service.workers()]
        send(signal.SIGSTOP, *stopped)
        until(lambda: service.jobs.workers() == 0)
        send(signal.SIGCONT, *stopped)
        until(lambda: service.jobs.workers() == 1)
        if busy:  # it is listed while it works, and not once it has ended the task
            assert service.jobs.find(slow.id, CALLER).status is Status.RUNNING
            assert finished(service.jobs, slow.id).status is Status.SUCCEEDED
        record, _ = service.jobs.submit(synthetic(1, segments=50), CALLER)
        assert finished(service.jobs, record.id).status is Status.SUCCEEDED
