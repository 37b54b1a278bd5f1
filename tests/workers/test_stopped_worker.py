"""A machine that was stopped for longer than its workers may be silent serves when it goes on."""

import signal
from functools import partial

from service import CALLER, Service, finished, send, started, synthetic, until

from workers.questions import Status
from workers.settings import Settings

SLOW = {"segments": 1500, "systems": 6, "metrics": ["bleu", "chrf"], "resamples": 299_999}


def test_workers_that_were_stopped_are_listed_again_and_work(tmp_path):
    with started(Settings(state=tmp_path, workers=1, block=999_999)) as service:
        stopped_for_long(service)
        record, _ = service.jobs.submit(synthetic(1, segments=50), CALLER)
        assert finished(service.jobs, record.id).status is Status.SUCCEEDED
        slow, _ = service.jobs.submit(synthetic(2, **SLOW), CALLER)
        look = partial(service.jobs.find, slow.id, CALLER)
        until(lambda: look().progress.phase == "resampling" and service.busy())
        stopped_for_long(service)  # it is listed while it works, and not once it ended the task
        assert look().status is Status.RUNNING
        assert finished(service.jobs, slow.id).status is Status.SUCCEEDED


def stopped_for_long(service: Service) -> None:
    stopped = [service.supervisor(), *service.workers()]
    send(signal.SIGSTOP, *stopped)
    until(lambda: service.jobs.workers() == 0)
    send(signal.SIGCONT, *stopped)
    until(lambda: service.jobs.workers() == 1)
