"""Large bodies are read beside the front end: one that never ends costs its sender alone."""

import asyncio
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from endless import endless
from exchange import COMPARISONS, problem
from lent import end_spare
from service import children, until

from app.requests import questions
from app.requests.bodies import SMALL
from app.requests.reading import ReadingProcess
from app.settings import Settings
from sigtest.errors import InputError, LimitError, at_line

CHILD = "app.requests.reading"
KEYS = {"SIGTEST_API_KEYS": "ann:of-ann,bob:of-bob", "SIGTEST_MAX_READING_SECONDS": "1"}
OF_ANN, OF_BOB = ({"Authorization": f"Bearer of-{name}"} for name in ("ann", "bob"))


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other front end has left a reading process, and one may load what lies here."""
    end_spare()
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


def large(body: dict[str, Any], seed: int) -> dict[str, Any]:
    texts = [line + " word" * (SMALL // 10) for line in body["references"][0]]
    return body | {"references": [texts], "seed": seed}


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("reading", [ReadingProcess])  # one for each front end, as a service has
def test_a_body_that_is_never_read_costs_its_sender_alone(serve, body, monkeypatch):
    client = serve(Settings.model_validate(KEYS))
    whole = client.post(COMPARISONS, json=large(body, 1), headers=OF_BOB)
    assert whole.status_code == 202, whole.text
    (first,) = children(os.getpid(), CHILD)
    monkeypatch.setattr(questions, "_question", endless)
    with ThreadPoolExecutor(1) as threads:
        evil = threads.submit(client.post, COMPARISONS, json=large(body, 2), headers=OF_ANN)
        assert client.get("/healthz").is_success
        assert client.post(COMPARISONS, content=b"{}", headers=OF_BOB).status_code == 415
        assert not evil.done()
        refused = problem(evil.result(), 413, "limit-exceeded")
    monkeypatch.undo()
    assert refused["limit"] == "max_reading_seconds"
    assert "more than 1 seconds" in refused["detail"]
    again = client.post(COMPARISONS, json=large(body, 3), headers=OF_BOB)
    assert again.status_code == 202
    (second,) = children(os.getpid(), CHILD)
    assert second != first


def test_large_and_small_bodies_are_the_same_questions_and_flaws(serve, body, monkeypatch):
    client = serve(Settings.model_validate(KEYS))
    whole = large(body, 4)
    flawed = whole | {"systems": [body["systems"][0], {"name": "B", "hypotheses": ["one line"]}]}

    def answers() -> tuple[str, dict[str, Any]]:
        made = client.post(COMPARISONS, json=whole, headers=OF_BOB)
        refused = client.post(COMPARISONS, json=flawed, headers=OF_BOB)
        return made.json()["id"], problem(refused, 422, "length-mismatch")["errors"][0]

    there = answers()
    assert there[1]["system"] == "B"
    assert there[1]["field"] == "systems[1].hypotheses"
    monkeypatch.setattr("app.requests.bodies.SMALL", 2**30)
    assert answers() == there


def run(process: ReadingProcess, *work: Any) -> Any:
    return asyncio.run(process.run(0, *work))


def test_one_that_is_closed_begins_no_other(monkeypatch):
    process = ReadingProcess(1)

    def closed(*_: object) -> None:
        process.close()
        raise EOFError

    monkeypatch.setattr(process, "_exchange", closed)
    with pytest.raises(LimitError):
        run(process, sorted, [2, 1])
    assert process._process is None


@pytest.mark.usefixtures("alone")
def test_it_is_killed_for_what_it_does_and_does_it_again():
    process = ReadingProcess(1)
    assert run(process, sorted, [2, 1]) == [1, 2]
    with pytest.raises(InputError, match="line 3") as caught:
        run(process, exec, "from sigtest.errors import at_line\nraise at_line('a', 3, 'No.', 'b')")
    assert vars(caught.value) | {"__notes__": []} == vars(at_line("a", 3, "No.", "b")) | {
        "__notes__": []
    }
    with pytest.raises(LimitError, match="memory"):
        run(process, exec, f"import os\nos.kill(os.getpid(), {signal.SIGKILL:d})")
    assert run(process, sorted, [2, 1]) == [1, 2]
    run(process, bytearray, 2**26)
    with pytest.raises(LimitError, match="536,870,912 bytes of memory"):
        run(process, exec, "held = []\nwhile True: held.append(bytearray(2**24))")
    assert run(process, sorted, [2, 1]) == [1, 2]
    with pytest.raises(LimitError, match="more than 1 seconds of a core"):
        run(process, pow, 7, 10**9)
    process.close()
    until(lambda: not children(os.getpid(), CHILD))
