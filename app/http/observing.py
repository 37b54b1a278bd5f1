"""What is known of a request from outside of its route: its id, its line in the log, counts."""

import logging
import re
import time
import uuid
from collections import Counter, defaultdict
from contextvars import ContextVar
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from workers.process import REQUEST, TOLD
from workers.store.usage import Durations

METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
BROKEN = 499  # the client went before there was an answer
HEADER = "X-Request-Id"
PRIVATE = "private, no-cache"  # keys come in headers that a proxy's cache may not look at
TAKEN_OVER = re.compile(r"[\w.-]{1,64}", re.ASCII)  # ids that are taken over from a client or proxy
QUESTION = re.compile(r"/([0-9a-f]{32})(?:/|$)")  # in a path

log = logging.getLogger(__name__)


@dataclass
class Exchange:
    """A request and what became of it; inner layers fill it in.

    Attributes:
        id: Of the request, in answer and log.
        caller: Who asks; empty where that was not looked at.
        question: Id of what is asked for or was made; empty where there is none.
        problem: Which problem was told, as the end of its type; empty where none was.
        status: Of the answer; 0 before there is one.
    """

    id: str
    caller: str = ""
    question: str = ""
    problem: str = ""
    status: int = 0


EXCHANGE: ContextVar[Exchange] = ContextVar("exchange")  # for all that serves a request


@dataclass
class Requests:
    """All requests of this process; names in it are the service's own, so that they are few.

    Attributes:
        durations: By method, path template and status; of a stream until it ends.
        refusals: Problems that were told, by the end of their type.
    """

    durations: defaultdict[tuple[str, str, int], Durations] = field(
        default_factory=lambda: defaultdict(Durations)
    )
    refusals: Counter[str] = field(default_factory=Counter)


class Middleware:
    """What stands around the application, for requests alone."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request; pass on what is none."""
        serve = self.serve if scope["type"] == "http" else self.app
        await serve(scope, receive, send)

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it."""
        raise NotImplementedError


class Observer(Middleware):
    """Middleware that counts what is asked and how it is answered, with headers of all answers."""

    def __init__(self, app: ASGIApp, requests: Requests) -> None:
        super().__init__(app)
        self.requests = requests

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and note its end."""
        sent = Headers(scope=scope).get(HEADER, "")
        identity = sent if TAKEN_OVER.fullmatch(sent) else uuid.uuid4().hex
        exchange = Exchange(identity, question=_question_in(scope["path"]))
        EXCHANGE.set(exchange)
        REQUEST.set(exchange.id)  # for this task and the threads that serve it
        since = time.monotonic()

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                headers = MutableHeaders(scope=message)
                headers[HEADER] = exchange.id
                headers["X-Content-Type-Options"] = "nosniff"  # whatever names it holds
                if headers.get("Cache-Control", "no-cache") == "no-cache":  # FastAPI's of streams
                    headers["Cache-Control"] = PRIVATE
                exchange.question = _question_in(headers.get("location", "")) or exchange.question
            await send(message)

        try:
            await self.app(scope, receive, noting)
        except Exception:
            exchange.status, exchange.problem = 500, "internal-error"  # told further outside
            raise
        finally:
            self._note(scope, exchange, time.monotonic() - since)

    def _note(self, scope: Scope, exchange: Exchange, seconds: float) -> None:
        method = scope["method"] if scope["method"] in METHODS else "other"
        name = method, template_of(scope), exchange.status or BROKEN
        self.requests.durations[name].note(seconds)
        told = {
            "method": name[0],
            "path": name[1],
            "status": name[2],
            "seconds": round(seconds, 6),
            "caller": exchange.caller,
            "question": exchange.question,
        }
        line = f"{name[0]} {name[1]} {name[2]} {seconds:.3f} s {exchange.caller or '-'}"
        log.info(line, extra={TOLD: {k: v for k, v in told.items() if v != ""}})
        if exchange.problem:
            self.requests.refusals[exchange.problem] += 1


def template_of(scope: Scope) -> str:
    """The path of a route, without what stands for its parameters; `none` where there is no route.

    Paths themselves hold ids and names of systems.
    """
    return str(getattr(scope.get("route"), "path", "none"))


def _question_in(path: str) -> str:
    found = QUESTION.search(path)
    return found[1] if found else ""
