"""What workers log about a task leads to the question and to the request that it came with."""

import json
import logging
import sys

from byhand import missing, perform
from service import CALLER, synthetic

from sigtest.errors import InputError
from workers.process import REQUEST, JsonFormatter
from workers.tasks.run import TASKS


def test_a_failed_task_is_logged_with_the_ids_of_question_and_request(
    jobs, context, caplog, monkeypatch
):
    def refused(*_: object) -> None:
        raise InputError("No.")

    token = REQUEST.set("from-a-proxy")
    record, _ = jobs.submit(synthetic(1, segments=5, systems=2), CALLER)
    REQUEST.reset(token)
    task, *_ = missing(context, record.id)
    monkeypatch.setitem(TASKS, task.name, refused)
    perform(context, [task])
    (failed,) = [r for r in caplog.records if r.name == "workers.tasks.run"]
    line = json.loads(JsonFormatter().format(failed))
    assert line["level"] == "WARNING"
    assert (line["request"], line["question"]) == ("from-a-proxy", record.id)
    assert line["message"] == f"task {task.key} failed: InputError"


def test_a_traceback_is_part_of_its_line():
    try:
        raise ValueError("first\nsecond")
    except ValueError:
        raised = sys.exc_info()
    record = logging.LogRecord("odd", logging.ERROR, "f", 1, "odd: %s", ("a\nb",), raised)
    line = JsonFormatter().format(record)
    assert "\n" not in line
    told = json.loads(line)
    assert told["message"] == "odd: a\nb"
    assert told["traceback"].endswith("ValueError: first\nsecond")
