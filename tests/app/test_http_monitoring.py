"""What Prometheus collects: well formed, true, for operators only, and without what was sent."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from exchange import COMPARISONS, problem, submit
from service import until

from app.routes.site import family
from app.settings import Settings
from workers.access import Access
from workers.settings import Settings as QueueSettings
from workers.store.server import EmbeddedServer, connect

# https://prometheus.io/docs/instrumenting/exposition_formats/
LABEL = r'[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"([a-zA-Z_:][\w:]*)(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")
TOLD = re.compile(
    r"# (?:HELP [a-zA-Z_:][\w:]* .+|TYPE [a-zA-Z_:][\w:]* (?:counter|gauge|histogram))"
)


def collected(client: httpx.Client, **headers: str) -> dict[str, float]:
    """All samples of `/metrics` by name and labels; each must be as the format says."""
    answer = client.get("/metrics", headers=headers)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.text.endswith("\n")
    samples: dict[str, float] = {}
    for line in answer.text.splitlines():
        if not TOLD.fullmatch(line):
            found = SAMPLE.fullmatch(line)
            assert found, line
            name = f"{found[1]}{{{found[2] or ''}}}"
            assert name not in samples
            samples[name] = float(found[3])
    return samples


@pytest.fixture
def idle(tmp_path: Path) -> Iterator[QueueSettings]:
    """A store of its own, without workers."""
    queue = QueueSettings(state=tmp_path)
    server = EmbeddedServer(queue)
    server.ensure()
    yield queue
    server.stop()


def test_requests_are_counted_by_route_and_refusals_by_type(serve, body):
    client = serve(Settings())
    url = submit(client, body).headers["location"]
    for _ in range(3):
        client.get(url)
    client.head(url)
    client.get(f"{COMPARISONS}/{'0' * 32}")
    client.post(COMPARISONS, json={})
    client.request("ODD", "/no/such/thing")
    seen = collected(client)

    def requests(method: str, path: str, status: int) -> float:
        labels = f'method="{method}",path="{path}",status="{status}"'
        return seen[f"sigtest_request_seconds_count{{{labels}}}"]

    assert requests("GET", "/v1/comparisons/{id}", 200) == 3
    assert requests("HEAD", "/v1/comparisons/{id}", 200) == 1
    assert requests("GET", "/v1/comparisons/{id}", 404) == 1
    assert requests("POST", "/v1/comparisons", 422) == 1
    assert requests("other", "none", 404) == 1
    assert seen['sigtest_refusals_total{type="not-found"}'] == 2
    assert sum(value for name, value in seen.items() if "refusals" in name) == 3


def test_ranges_of_durations_count_what_is_below_them(service, body):
    submit(service, body | {"seed": 77})
    seen = collected(service)
    done = 'task="measure",outcome="done"'
    counts = [v for n, v in seen.items() if n.startswith(f"sigtest_task_seconds_bucket{{{done}")]
    assert len(counts) == 9
    assert counts == sorted(counts)
    assert counts[-1] == seen[f"sigtest_task_seconds_count{{{done}}}"] >= 1
    assert seen["sigtest_workers{}"] == 2


def test_the_cache_and_the_cost_of_callers_are_counted(service, body):
    def looks(seen: dict[str, float]) -> tuple[float, float]:
        hit, miss = (
            seen[f'sigtest_cache_lookups_total{{result="{result}"}}'] for result in ("hit", "miss")
        )
        return hit, miss

    def counted(seconds: float) -> dict[str, float]:
        """What is collected once a task is counted, which is a moment after its answer."""
        until(lambda: collected(service).get(spent, 0.0) > seconds)
        return collected(service)

    spent = 'sigtest_caller_seconds_total{caller="anonymous"}'
    text = {**body, "references": [["a b c d e", "f g h i j", "k l m n p"]]}
    before = collected(service)
    submit(service, {**text, "seed": 78})
    between = counted(before.get(spent, 0.0))
    submit(service, {**text, "seed": 79})
    after = counted(between[spent])
    assert looks(between)[1] - looks(before)[1] == 2  # two systems, one metric
    assert looks(after) == (looks(between)[0] + 2, looks(between)[1])


def test_what_waits_is_told_by_caller_and_without_content(idle, serve_on, body):
    client = serve_on(Settings.model_validate({"SIGTEST_API_KEYS": "ann:secret-a"}), idle)
    key = {"X-API-Key": "secret-a"}
    assert collected(client, **key)["sigtest_tasks_waiting{}"] == 0
    assert client.post(COMPARISONS, json=body, headers=key).status_code == 202
    seen = collected(client, **key)
    assert seen["sigtest_workers{}"] == 0
    assert seen["sigtest_tasks_waiting{}"] >= 1
    assert seen['sigtest_questions_unfinished{caller="ann"}'] == 1
    assert seen['sigtest_predicted_seconds{caller="ann"}'] > 0
    told = client.get("/metrics", headers=key).text
    assert not re.search(r"[0-9a-f]{32}|f g h i j|secret", told)


def test_labels_are_escaped():
    *_, sample = family("load", "Of a caller.", {'a"b\\c\nd': 1.5}, "caller")
    assert sample == r'sigtest_load{caller="a\"b\\c\nd"} 1.5'
    assert SAMPLE.fullmatch(sample)


def test_only_operators_read_it(idle, serve_on):
    client = serve_on(Settings(), idle)
    collected(client)  # on this machine, without keys
    with closing(connect(idle)) as redis:
        _, plain = Access(redis).add("ann", ["read", "submit"])
        _, operator = Access(redis).add("prometheus", ["admin"])
    problem(client.get("/metrics"), 401, "unauthorized")
    problem(client.get("/metrics", headers={"X-API-Key": plain}), 403, "forbidden")
    collected(client, Authorization=f"Bearer {operator}")
    problem(client.get(COMPARISONS, headers={"X-API-Key": operator}), 403, "forbidden")
