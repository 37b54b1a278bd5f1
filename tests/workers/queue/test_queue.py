"""Who can write to Redis cannot run anything but the project's tasks."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
import rq
from byhand import waiting
from rq.job import Job
from rq.serializers import JSONSerializer
from service import CALLER, Service, example, finished, started, synthetic, until

from sigtest.kinds.comparisons import ComparisonQuestion
from workers.questions import Status
from workers.queue import NAME, Turn
from workers.settings import Settings
from workers.store.records import Task
from workers.store.server import connect
from workers.tasks.run import TASKS


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with started(Settings(state=tmp_path_factory.mktemp("state"), workers=1)) as service:
        yield service


def smuggled(service: Service, function: str, *args: object, **fields: Any) -> None:
    """Put a job into Redis as somebody with a plain RQ would, and wait until it is away."""
    redis = connect(service.settings)
    queue = rq.Queue(NAME, connection=redis, serializer=JSONSerializer)
    job = queue.create_job(function, args=args, job_id="smuggled")
    job.save()
    if fields:
        redis.hset(job.key, mapping=fields)
    queue.push_job_id(job.id)
    until(lambda: not Job.exists("smuggled", redis))
    redis.close()


@pytest.mark.parametrize(
    "function", ["os.system", "subprocess.call", "touch", "workers.tasks.run.run"]
)
def test_other_functions_are_refused(service, tmp_path, function):
    trace = tmp_path / "trace"
    smuggled(service, function, f"touch {trace}")
    assert not trace.exists()
    assert works(service)


@pytest.mark.parametrize("field", ["success_callback_name", "failure_callback_name"])
def test_callbacks_are_ignored(service, tmp_path, field):
    trace = tmp_path / "trace.py"
    module = tmp_path / "smuggled_module.py"
    module.write_text(f"open({str(trace)!r}, 'w')\n\ndef run(*_): ...\n")
    for function in ("measure", "nothing"):
        smuggled(service, function, "0" * 32, 0, 1, **{field: "smuggled_module.run"})
    assert not trace.exists()
    assert works(service)


def test_methods_of_arguments_are_no_tasks(service):
    redis = connect(service.settings)
    data = JSONSerializer.dumps(["format", "{0}", ["x"], {}])
    redis.hset("rq:job:smuggled", mapping={"data": data, "status": "queued", "origin": NAME})
    redis.rpush(f"rq:queue:{NAME}", "smuggled")
    until(lambda: not redis.exists("rq:job:smuggled"))
    redis.close()
    assert works(service)


def works(service: Service) -> bool:
    comparison = synthetic(int(time.time() * 1000), segments=20, resamples=99)
    record, _ = service.jobs.submit(comparison, CALLER)
    return finished(service.jobs, record.id).status is Status.SUCCEEDED


def test_equal_tasks_are_queued_once(jobs, context):
    task = Task("measure", "0" * 32, (0, 2))
    turn = Turn("1" * 32, task)
    context.feed.jobs.add([turn, turn])
    context.feed.jobs.add([turn])
    assert context.questions.redis.llen(f"rq:queue:{NAME}") == 1


def test_cancelling_clears_the_queue_of_one_comparison(jobs, context):
    record, _ = jobs.submit(example(seed=1), CALLER)
    other, _ = jobs.submit(example(seed=2), CALLER)
    jobs.remove(record.id, CALLER)
    assert {key.partition("-")[0] for key in waiting(context)} == {other.id}


def test_cancelled_comparison_frees_its_workers(service):
    choices = {"metrics": ["bleu", "chrf"], "tests": ["approximate_randomization", "bootstrap"]}
    comparison = synthetic(1, segments=1000, systems=12, resamples=999_999, **choices)
    assert ComparisonQuestion(comparison).seconds > 20
    record, _ = service.jobs.submit(comparison, CALLER)
    until(lambda: service.jobs.find(record.id, CALLER).progress.phase == "resampling")
    service.jobs.remove(record.id, CALLER)
    until(lambda: not service.busy())
    redis = connect(service.settings)
    assert not redis.exists(f"sigtest:blocks:{record.id}", f"sigtest:contents:{record.id}")
    redis.close()


def test_finished_work_leaves_nothing_in_the_queue(service):
    assert works(service)
    redis = connect(service.settings)
    until(lambda: not redis.keys("rq:job:*"))
    assert not redis.keys("rq:execution*")
    assert not redis.keys("rq:results*")
    assert not redis.exists(f"rq:wip:{NAME}", f"rq:failed:{NAME}", f"rq:finished:{NAME}")
    redis.close()


def test_tasks_are_known_by_name():
    own = {"measure", "resample", "conclude", "distribute", "attribute"}
    assert set(TASKS) == own | {"join", "refresh", "look", "deliver"}
    assert all(name == function.__name__ for name, function in TASKS.items())
