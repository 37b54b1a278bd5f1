"""Lines of the log: one JSON object each, with ids that lead from a request to its tasks."""

import json
import re

import httpx
import pytest
from exchange import COMPARISONS
from service import launched

from workers.settings import Settings as QueueSettings
from workers.store.server import EmbeddedServer

MADE = re.compile(r"[0-9a-f]{32}")


def test_a_request_is_answered_with_its_id(service):
    given = service.get("/healthz", headers={"X-Request-Id": "proxy-17.a"})
    assert given.headers["x-request-id"] == "proxy-17.a"
    for odd in ("", "x" * 65, "a b", 'a"b'):
        told = service.get(COMPARISONS + "/none", headers={"X-Request-Id": odd})
        assert told.status_code == 404
        assert MADE.fullmatch(told.headers["x-request-id"])
    first, second = (service.get("/healthz").headers["x-request-id"] for _ in range(2))
    assert first != second


# what lines of text are, the front end alone writes, too: see test_alone.py
@pytest.mark.parametrize("form", ["json", pytest.param("text", marks=pytest.mark.slow)])
def test_a_line_a_request_leads_to_the_question_and_holds_no_text(tmp_path, body, form):
    queue = QueueSettings(state=tmp_path)
    log = tmp_path / "log"
    server = EmbeddedServer(queue)
    server.ensure()
    with (
        launched(queue, "app.alone", f"exec 2> '{log}'", SIGTEST_LOG=form) as (_, url),
        httpx.Client(base_url=url, timeout=60, headers={"X-Request-Id": "mine"}) as client,
    ):
        made = client.post(COMPARISONS, json=body)
    server.stop()
    (line,) = (line for line in log.read_text().splitlines() if "/v1/comparisons" in line)
    question = made.json()["id"]
    assert "f g h i j" not in line
    if form == "text":
        asked = rf"POST /v1/comparisons 202 \d+\.\d+ s anonymous request=mine question={question}"
        assert re.fullmatch(rf"\d{{4}}-\S+Z INFO app\.http\.observing: {asked}", line)
        return
    told = json.loads(line)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", told.pop("time"))
    assert 0 < told.pop("seconds") < 60
    assert told.pop("message").startswith("POST /v1/comparisons 202 ")
    assert told == {
        "level": "INFO", "logger": "app.http.observing", "request": "mine", "question": question,
        "method": "POST", "path": "/v1/comparisons", "status": 202, "caller": "anonymous",
    }  # fmt: skip
