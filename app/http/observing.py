"""What is known of a request from outside of its route, and the counts of all requests."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from workers.store.tallies import Durations

METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
KEY = "exchange"  # in the scope of a request
BROKEN = 499  # the client went before there was an answer


@dataclass
class Exchange:
    """A request and what became of it; inner layers fill it in.

    Attributes:
        problem: Which problem was told, as the end of its type; empty where none was.
        status: Of the answer; 0 before there is one.
    """

    problem: str = ""
    status: int = 0


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


class Observer:
    """Middleware that counts what is asked and how it is answered."""

    def __init__(self, app: ASGIApp, requests: Requests) -> None:
        self.app = app
        self.requests = requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and note its end."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        exchange = scope[KEY] = Exchange()
        since = time.monotonic()

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
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
        if exchange.problem:
            self.requests.refusals[exchange.problem] += 1


def template_of(scope: Scope) -> str:
    """The path of a route, without what stands for its parameters; `none` where there is no route.

    Paths themselves hold ids and names of systems.
    """
    return str(getattr(scope.get("route"), "path", "none"))


def tell(scope: Scope, problem: str) -> None:
    """Note which problem a request is answered with."""
    exchange = scope.get(KEY)
    if isinstance(exchange, Exchange):
        exchange.problem = problem
