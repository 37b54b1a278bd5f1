"""The application: settings, what is open while it runs, routes, how it is run, and by whom.

`python -m app.main FILE` writes its OpenAPI document.
"""

import asyncio
import json
import logging
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, suppress
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import uvicorn
from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.exceptions import ExceptionMiddleware

from app import openapi
from app.http.auth import Door, Gate, is_loopback
from app.http.middleware import BodyLimit, Compression, Connection, CutShort, Head, is_shortage
from app.http.observing import Observer, Requests
from app.http.waiting import Watcher
from app.pages import site
from app.requests.bodies import Parser
from app.requests.questions import rehearse
from app.requests.reading import ReadingProcess
from app.routes import questions, races, shared_tasks, testsets, webhooks
from app.routes import site as site_routes
from app.settings import Settings, misspelt
from sigtest.errors import SigtestError
from sigtest.kinds import KINDS
from sigtest.version import __version__
from workers.access import Access, Sessions
from workers.errors import SettingError
from workers.observing import News
from workers.questions import Questions
from workers.races import Races
from workers.settings import Settings as QueueSettings
from workers.shared_tasks import SharedTasks
from workers.testsets import TestSets
from workers.webhooks import Webhooks

MIN_COMPRESSED = 1024  # bytes; less is sent as it is
GRACE_SECONDS = 5
# longer than clients and proxies keep them: a request that meets our end of one would be lost
IDLE_SECONDS = 75
LEVEL = 4  # of 9, which takes three times as long to save another twentieth of a report

log = logging.getLogger(__name__)


Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[dict[str, Any]]]


def create_app(settings: Settings | None = None, queue: QueueSettings | None = None) -> FastAPI:
    """Build the service; `app.serve` and `app.alone` run it.

    Args:
        settings: Limits and keys; from the environment by default.
        queue: Where questions are kept; from the environment by default.

    Raises:
        SettingError: A setting that makes no sense.
    """
    chosen = settings or Settings()
    requests = Requests()
    app = FastAPI(
        title="sigtest",
        summary="Calibrated significance tests for comparing translation systems.",
        description=openapi.DESCRIPTION,
        version=__version__,
        openapi_tags=openapi.TAGS,
        license_info={"name": "MIT", "identifier": "MIT"},
        docs_url=None,  # these pages would load their scripts from elsewhere
        redoc_url=None,
        lifespan=_lifespan(chosen, queue or QueueSettings(), requests),
        redirect_slashes=False,
    )
    app.state.reading = ReadingProcess(chosen.max_reading_seconds)
    app.state.stopping = Event()
    app.openapi = partial(openapi.document, app)  # type: ignore[method-assign]
    site.install(app)
    _install(app, chosen, requests)
    return app


def _lifespan(settings: Settings, queue: QueueSettings, requests: Requests) -> Lifespan:
    """What is open while the service runs, and travels with every request as its state."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
        rehearse()
        with suppress(FileNotFoundError):  # looked for now: later no file may be left for that
            tempfile.gettempdir()
        questions = Questions.connect(queue)
        context, news = questions.context, News.connect(queue)
        of_testsets = TestSets(context)
        with closing(news), closing(questions), closing(app.state.reading):
            yield {
                "settings": settings,
                "requests": requests,
                "door": Door(settings, Access(context.redis, queue.marker)),
                "sessions": Sessions(context.redis),
                "questions": questions,
                "races": Races(context),
                "testsets": of_testsets,
                "tasks": SharedTasks(context, of_testsets),
                "webhooks": Webhooks(context),
                "watcher": Watcher(questions, news, app.state.stopping),
                "parser": Parser(settings.max_body_bytes, app.state.reading),
            }

    return lifespan


def _install(app: FastAPI, settings: Settings, requests: Requests) -> None:
    """Routes, and what every request goes through."""
    for router in (
        *map(questions.router_of, KINDS.values()),
        races.router,
        testsets.router,
        shared_tasks.router,
        webhooks.router,
        site_routes.router,
        questions.router,
    ):
        app.router.routes.extend(router.routes)
    refusals = {SigtestError: app.exception_handlers[SigtestError]}
    app.add_middleware(Compression, minimum_size=MIN_COMPRESSED, compresslevel=LEVEL)
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    app.add_middleware(ExceptionMiddleware, handlers=refusals)
    app.add_middleware(Head)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["*"],  # keys come in headers; cookies are never read across origins
            expose_headers=[*openapi.BESIDES["headers"], *openapi.BESIDES["everywhere"]],
        )
    app.add_middleware(Gate, settings=settings)
    app.add_middleware(ExceptionMiddleware, handlers=refusals)
    app.add_middleware(CutShort)
    app.add_middleware(Observer, requests=requests)  # outside of what refuses


class Server(uvicorn.Server):
    """Says where it listens as soon as it does, and that it stops before it waits for requests.

    Args:
        app: The service.
        stopping: Called when the stop begins.
    """

    def __init__(self, app: FastAPI, stopping: Callable[[], None] = lambda: None) -> None:
        super().__init__(configuration(app))
        self._stopping = stopping
        self._app = app
        self._told = 0.0

    def tell(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log an error that is no request's, and a shortage once a second.

        asyncio takes up to 2,048 connections at a time, and says of each that it got none.
        """
        if not is_shortage(context.get("exception")):
            loop.default_exception_handler(context)
        elif time.monotonic() > self._told + 1:
            self._told = time.monotonic()
            log.error("%s: %s", context["message"], context["exception"])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        if wrong := misspelt():
            words = "; ".join(f"{name}: did you mean {meant}?" for name, meant in wrong.items())
            log.warning("No setting, and not read: %s", words)
        asyncio.get_running_loop().set_exception_handler(self.tell)
        await super().startup(sockets)
        if self.started and sockets:
            host, port = sockets[0].getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            sys.stdout.write(f"sigtest is ready at http://{shown}:{port}\n")
            sys.stdout.flush()
            self._app.state.reading.begin()  # before anybody waits for it

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stopping()
        self._app.state.stopping.set()  # or connections would wait for streams that never end
        await super().shutdown(sockets)


def configuration(app: FastAPI) -> uvicorn.Config:
    """How uvicorn runs the service."""
    return uvicorn.Config(
        app,
        http=Connection,
        log_config=None,
        access_log=False,  # of uvicorn, which would name paths
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_keep_alive=IDLE_SECONDS,
    )


def refuse_strangers(host: str, settings: Settings, queue: QueueSettings) -> None:
    """Check that only holders of keys come in from other machines.

    Raises:
        SettingError: Everybody would.
    """
    if settings.open or is_loopback(host):
        return
    with closing(Questions.connect(queue)) as questions:
        door = Door(settings, Access(questions.context.redis, queue.marker))
        if not door.closed():
            raise SettingError(
                f"HOST {host} can be reached by other machines, and there are no keys. Make one "
                "with `sigtest-admin keys add NAME`, or set SIGTEST_OPEN=1 to let everybody in."
            )


def openapi_text() -> str:
    """The OpenAPI document of the code as the file has it."""
    return json.dumps(create_app().openapi(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(openapi_text(), encoding="utf-8")
