"""No route tells a caller what others have: answers, headers and progress are those of a store
in which there is nothing else. Times of answers are measured by `benchmarks/isolation.py`."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import scored
import studied
from exchange import ServeOn
from rq.job import Job
from rq.serializers import JSONSerializer
from test_http_kinds import judgements

from app.settings import Settings
from benchmarks.deliveries import LOOPBACK
from sigtest.kinds import KINDS
from workers.queue import NAME, Context
from workers.settings import Settings as QueueSettings
from workers.store.server import EmbeddedServer, connect
from workers.tasks.run import run

BODIES: dict[str, dict[str, Any]] = {
    "comparisons": studied.comparison(),
    "human-evaluations": {"judgements": judgements()[:300], "resamples": 99},
    "metric-evaluations": scored.request(resamples=99),
    "test-accuracy": studied.request(),
    "plans": {"comparison": studied.comparison(), "difference": 1.5},
    "sequential-comparisons": {
        "scores": {"Aspen": [1, 1, 0], "Daisy": [0, 1, 0]},
        "scale": [0, 1],
    },
}
PAIR = {"a": "Aspen", "b": "Daisy", "metric": "bleu", "test": "bootstrap"}
TIMES = re.compile(
    r'"(created_at|expires_at|claimed_at|at|now)": ?"[^"]*"|^id: [0-9a-f]{32}$'
    r'|"(size|bytes|lasting)": ?\d+',  # the server's own, which differ by where memory was free
    re.M,
)
RANDOM = re.compile(r'"(id|secret|self|test|token|address)": ?"[^"]*"')
ALWAYS_NEW = {"date", "x-request-id"}
WITH_TIMES = {
    "etag",
    "content-length",
}  # like the ids of events, follow from a body that has times in it
KEYS = {"ann": "secret-a", "bob": "secret-b"}


@dataclass
class Store:
    """A store without workers, and a front end on it."""

    context: Context
    client: httpx.Client

    def step(self) -> bool:
        """Do the next task as a worker would; whether there was one."""
        redis = self.context.questions.redis
        self.context.feed.fill()
        name = redis.lpop(f"rq:queue:{NAME}")
        if name is None:
            return False
        job = Job.fetch(name.decode(), connection=redis, serializer=JSONSerializer)
        redis.delete(job.key)
        run(self.context, str(job.func_name), job.args)
        return True

    @contextmanager
    def working(self) -> Iterator[None]:
        """Do tasks as they come while the block lasts."""
        over = threading.Event()

        def work() -> None:
            while not over.wait(0.01):
                self.step()

        worker = threading.Thread(target=work)
        worker.start()
        try:
            yield
        finally:
            over.set()
            worker.join()


@dataclass
class Caller:
    """Somebody who asks, and notes every answer but for the times in it."""

    store: Store
    name: str
    notes: list[tuple[Any, ...]] = field(default_factory=list)
    routes: set[tuple[str, str]] = field(default_factory=set)
    token: str = ""  # of a team

    def ask(self, method: str, route: str, body: Any = None, **places: str) -> httpx.Response:
        """Ask and note; `places` are filled into the route, the others go into the query."""
        inside = {name for name in places if f"{{{name}}}" in route}
        answer = self.store.client.request(
            method,
            route.format(**places),
            json=body,
            params={name: value for name, value in places.items() if name not in inside},
            headers={"X-API-Key": self.token if "/systems/{testset}" in route else KEYS[self.name]},
        )
        self.routes.add((method, route))
        packed = answer.headers.get("content-type") == "application/zip"  # with times in it
        text, times = ("", 1) if packed else TIMES.subn("", answer.text)
        if (
            "webhooks" in route or "/teams" in route or route.endswith("/link")
        ) and answer.status_code < 300:  # their ids and secrets are random
            text, times = RANDOM.sub("", text), 1
        left_out = ALWAYS_NEW | (WITH_TIMES if times else set())
        left_out |= {"location"} if "webhooks" in route else set()
        headers = {name: value for name, value in answer.headers.items() if name not in left_out}
        self.notes.append((method, route, answer.status_code, headers, text))
        return answer

    def follow(self, route: str, **places: str) -> None:
        """Look, and look again after each task that is done."""
        self.ask("GET", route, **places)
        while self.store.step():
            self.ask("GET", route, **places)

    def share(self, path: str, name: str) -> None:
        """Everything that can be asked of a public link."""
        for method in ("PUT", "GET", "DELETE", "GET"):
            self.ask(method, f"{path}/{{id}}/link", id=name)

    def ask_question(self, kind: str) -> None:
        """Everything that can be asked of one question."""
        path = f"/v1/{kind}"
        made = self.ask("POST", path, BODIES[kind])
        assert made.status_code == 202, made.text
        name = made.json()["id"]
        self.follow(f"{path}/{{id}}", id=name)
        found = self.ask("GET", f"{path}/{{id}}", id=name).json()
        assert found["status"] == "succeeded", found
        for form in ("json", "markdown"):
            self.ask("GET", f"{path}/{{id}}/report", id=name, format=form)
        links = found["links"]["plots"]
        picture = Path(next(iter(links.values())) if isinstance(links, dict) else links[0]).stem
        self.ask("GET", f"{path}/{{id}}/plots/{{picture}}", id=name, picture=f"{picture}.svg")
        self.ask("GET", f"{path}/{{id}}/events", id=name)
        if kind == "comparisons":
            with self.store.working():
                for view in ("distribution", "segments"):
                    self.ask("GET", f"{path}/{{id}}/{view}", id=name, **PAIR)
        self.ask("PATCH", f"{path}/{{id}}", {"title": "the same words"}, id=name)
        self.share(path, name)
        self.ask("GET", path)
        assert self.ask("POST", path, BODIES[kind]).status_code == 200
        if self.name == "bob":
            self.ask("DELETE", f"{path}/{{id}}", id=name)
            assert self.ask("GET", f"{path}/{{id}}", id=name).status_code == 410

    def keep_testset(self) -> None:
        """Everything that can be asked of one test set."""
        path = "/v1/testsets"
        whole = studied.comparison()
        systems = whole.pop("systems")
        made = self.ask("POST", path, {"name": "news", **whole})
        assert made.status_code == 201, made.text
        name = made.json()["id"]
        for system, lines in systems.items():
            body = {"hypotheses": lines}
            self.ask("PUT", f"{path}/{{id}}/systems/{{name}}", body, id=name, name=system)
            self.follow(f"{path}/{{id}}/systems/{{name}}", id=name, name=system)
        self.ask("GET", f"{path}/{{id}}/systems", id=name)
        self.board(name)
        assert self.ask("POST", f"{path}/{{id}}/frozen", {}, id=name).status_code == 201
        assert self.ask("GET", "/v1/storage").json()["bytes"] > 0
        self.share(path, name)
        self.ask("PATCH", f"{path}/{{id}}", {"resamples": 599}, id=name)
        self.follow(f"{path}/{{id}}", id=name)
        self.board(name)
        self.ask("GET", path)
        if self.name == "bob":
            self.ask("DELETE", f"{path}/{{id}}/systems/{{name}}", id=name, name="Cedar")
            self.follow(f"{path}/{{id}}", id=name)
            self.board(name)
            self.ask("DELETE", f"{path}/{{id}}", id=name)
            assert self.ask("GET", f"{path}/{{id}}", id=name).status_code == 410

    def keep_task(self) -> None:
        """Everything that can be asked of a shared task, by its owner and by a team."""
        path = "/v1/tasks"
        whole = studied.comparison()
        lines = next(iter(whole.pop("systems").values()))
        testset = self.ask("POST", "/v1/testsets", {"name": "talks", **whole}).json()["id"]
        made = self.ask(
            "POST", path, {"name": "news", "testsets": {"talks": testset}, "overall": "mean"}
        )
        assert made.status_code == 201, made.text
        name = made.json()["id"]
        self.token = self.ask("POST", f"{path}/{{id}}/teams", {"name": "lynx"}, id=name).json()[
            "token"
        ]
        system = f"{path}/{{id}}/systems/{{testset}}/{{name}}"
        places = {"id": name, "testset": "talks", "name": "main"}
        self.ask("PUT", system, {"hypotheses": lines}, **places)
        self.follow(system, **places)
        for route in ("", "/{id}", "/{id}/teams", "/{id}/systems"):
            self.ask("GET", f"{path}{route}", **({"id": name} if route else {}))
        with self.store.working():
            board = f"{path}/{{id}}/testsets/{{testset}}/leaderboard"
            self.ask("GET", board, id=name, testset="talks")
            for whole in ("overall", "archive"):
                assert self.ask("GET", f"{path}/{{id}}/{whole}", id=name).status_code == 200
        self.ask("PATCH", f"{path}/{{id}}", {"grace": 5}, id=name)
        if self.name == "bob":
            self.ask("DELETE", system, **places)
            self.ask("DELETE", f"{path}/{{id}}/teams/{{name}}", id=name, name="lynx")
            self.ask("DELETE", f"{path}/{{id}}", id=name)
            assert self.ask("GET", f"{path}/{{id}}", id=name).status_code == 410

    def board(self, name: str) -> None:
        """The leaderboard, with what is made for it when it is looked at."""
        path = "/v1/testsets/{id}/leaderboard"
        with self.store.working():
            shown = self.ask("GET", path, id=name)
            assert shown.status_code == 200, shown.text
            self.ask("GET", f"{path}/plots/{{picture}}", id=name, picture="matrix.svg")
            self.ask("GET", f"{path}/distribution", id=name, **PAIR)

    def keep_webhook(self) -> None:
        """Everything that can be asked of a webhook, to which nothing is sent."""
        path = "/v1/webhooks"
        body = {"url": "http://127.0.0.1:1/", "events": ["question.failed"]}
        name = self.ask("POST", path, body).json()["id"]
        for method, route in (("GET", ""), ("GET", "/{id}"), ("POST", "/{id}/test")):
            self.ask(method, f"{path}{route}", **({"id": name} if route else {}))
        self.ask("DELETE", f"{path}/{{id}}", id=name)

    def keep_race(self) -> None:
        """Everything that can be asked of a race."""
        path = "/v1/races"
        body = {"name": "night", "systems": ["Aspen", "Daisy"], "scale": [0, 1]}
        name = self.ask("POST", path, body).json()["id"]
        batch = {"scores": {"Aspen": dict.fromkeys("abcdefgh", 1), "Daisy": {"a": 0, "b": 1}}}
        self.ask("POST", f"{path}/{{id}}/observations", batch, id=name)
        self.follow(f"{path}/{{id}}", id=name)
        batch["scores"]["Daisy"] = {"b": 1, **dict.fromkeys("cdefgh", 0)}
        self.ask("POST", f"{path}/{{id}}/observations", batch, id=name)
        self.follow(f"{path}/{{id}}", id=name)
        self.ask("GET", f"{path}/{{id}}/report", id=name)
        self.ask("GET", f"{path}/{{id}}/plots/{{picture}}", id=name, picture="race.svg")
        self.share(path, name)
        self.ask("PATCH", f"{path}/{{id}}", {"title": "the same words"}, id=name)
        self.ask("GET", path)
        extra = {f"i{i}": 1 for i in range(30)}
        more = {"scores": {"Aspen": extra, "Daisy": dict.fromkeys(extra, 0)}}
        self.ask("POST", f"{path}/{{id}}/observations", more, id=name)
        self.follow(f"{path}/{{id}}", id=name)
        assert "finished" in self.ask("GET", f"{path}/{{id}}/events", id=name).text
        if self.name == "bob":
            self.ask("DELETE", f"{path}/{{id}}", id=name)
            assert self.ask("GET", f"{path}/{{id}}", id=name).status_code == 410

    def ask_everything(self) -> None:
        """Every route under /v1."""
        self.keep_race()
        self.keep_webhook()
        for kind in KINDS:
            self.ask_question(kind)
        self.keep_testset()
        self.keep_task()


@pytest.fixture
def stores(serve_on: ServeOn, tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    """Two empty stores."""
    settings = Settings.model_validate(
        {"SIGTEST_API_KEYS": ",".join(f"{name}:{key}" for name, key in KEYS.items())}
    )
    queues = [
        QueueSettings(state=tmp_path / name, webhook_networks=LOOPBACK)
        for name in ("shared", "empty")
    ]
    servers = [EmbeddedServer(queue) for queue in queues]
    for server in servers:
        server.ensure()
    redis = [connect(queue) for queue in queues]
    first, second = (
        Store(Context.on(client, queue), serve_on(settings, queue))
        for client, queue in zip(redis, queues, strict=True)
    )
    yield first, second
    for connection in redis:
        connection.close()
    for server in servers:
        server.stop()


def own_routes(client: httpx.Client) -> set[tuple[str, str]]:
    """Methods and paths under /v1, as the service describes itself."""
    paths = client.get("/openapi.json").json()["paths"]
    methods = {"get", "post", "put", "patch", "delete"}
    return {
        (method.upper(), path)
        for path, told in paths.items()
        if path.startswith("/v1/")
        for method in methods & told.keys()
    }


def test_a_caller_cannot_tell_what_others_have(stores):
    shared, empty = stores
    ann = Caller(shared, "ann")
    ann.ask_everything()
    bob, alone = Caller(shared, "bob"), Caller(empty, "bob")
    for caller in (bob, alone):
        caller.ask_everything()
    assert bob.routes == own_routes(shared.client)
    assert len(bob.notes) == len(alone.notes) > 90
    for shown, expected in zip(bob.notes, alone.notes, strict=True):
        assert shown == expected
    # and what bob deleted is none of what ann has
    again = Caller(shared, "ann")
    for kind in KINDS:
        *_, listed = again.ask("GET", f"/v1/{kind}").json()[kind]  # behind what was frozen
        assert again.ask("GET", f"/v1/{kind}/{{id}}/report", id=listed["id"]).status_code == 200
    strangers_ids_are_unknown(ann, bob)


def strangers_ids_are_unknown(ann: Caller, bob: Caller) -> None:
    """Whoever knows a text can compute the id that it has for another caller."""
    ids = {}
    for kind in ("testsets", "tasks", "races", *KINDS):
        ids[kind] = ann.ask("GET", f"/v1/{kind}").json()[kind][0]["id"]
    bob.token = KEYS["bob"]
    bodies = {"PUT": {"hypotheses": studied.lines(1)}, "PATCH": {"title": "mine"}}
    for method, route in sorted(own_routes(ann.store.client)):
        if "{id}" not in route:
            continue
        name = ids.get(route.split("/")[2])
        if name is None:
            continue  # webhooks, whose ids are random
        filled = {"name": "Aspen", "picture": "matrix.svg", "testset": "talks"}
        places = {place: filled[place] for place in filled if f"{{{place}}}" in route}
        if route.endswith(("distribution", "segments")):
            places = PAIR
        told = []
        for asked in (name, "0" * 32):
            bob.notes.clear()
            body = {"name": "lynx"} if method + route[-6:] == "POST/teams" else bodies.get(method)
            answer = bob.ask(method, route, body, id=asked, **places)
            assert answer.status_code == 404, (method, route, answer.text)
            told.append(json.dumps(bob.notes[0]).replace(asked, "ID"))
        assert told[0] == told[1]
