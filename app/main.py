"""The application: settings, what is open while it runs, routes, and what errors become."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from functools import partial
from typing import TypedDict

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from app import probes
from app.http import problems
from app.http.auth import Door, Gate
from app.http.middleware import BodyLimit, Compression, CutShort, Head
from app.http.observing import Observer, Requests
from app.http.waiting import Watcher, stopping
from app.pages import site
from app.requests.bodies import Parser
from app.requests.questions import rehearse
from app.requests.reading import ReadingProcess
from app.routes import questions, testsets, webhooks
from app.routes import site as site_routes
from app.schema import document
from app.settings import Settings
from sigtest.kinds import KINDS
from sigtest.version import __version__
from workers.access import Access, Sessions
from workers.news import News
from workers.questions import Questions
from workers.settings import Settings as QueueSettings
from workers.testsets import TestSets
from workers.webhooks import Webhooks

MIN_COMPRESSED = 1024  # bytes; less is sent as it is
LEVEL = 4  # of 9, which takes three times as long to save another twentieth of a report


class State(TypedDict):
    """What is open while the service runs, and travels with every request."""

    settings: Settings
    requests: Requests
    door: Door
    sessions: Sessions
    questions: Questions
    testsets: TestSets
    webhooks: Webhooks
    watcher: Watcher
    parser: Parser


Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[State]]


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
        description=document.DESCRIPTION,
        version=__version__,
        openapi_tags=document.TAGS,
        license_info={"name": "MIT", "identifier": "MIT"},
        docs_url=None,  # these pages would load their scripts from elsewhere
        redoc_url=None,
        lifespan=_lifespan(chosen, queue or QueueSettings(), requests),
        redirect_slashes=False,
    )
    app.state.reading = ReadingProcess(chosen.max_reading_seconds)
    _install(app, chosen, requests)
    app.openapi = partial(document.document, app)  # type: ignore[method-assign]
    problems.install(app)
    site.install(app)
    return app


def _lifespan(settings: Settings, queue: QueueSettings, requests: Requests) -> Lifespan:
    """What opens the state when the service starts, and closes it when it stops."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[State]:
        rehearse()
        questions = Questions.connect(queue)
        news = News.connect(queue)
        readers = closing(app.state.reading)
        with stopping(news.wake) as event, closing(news), closing(questions), readers:
            yield State(
                settings=settings,
                requests=requests,
                door=Door(settings, Access(questions.context.redis, queue.marker)),
                sessions=Sessions(questions.context.redis),
                questions=questions,
                testsets=TestSets(questions.context),
                webhooks=Webhooks(questions.context),
                watcher=Watcher(questions, news, event),
                parser=Parser(settings.max_body_bytes, app.state.reading),
            )

    return lifespan


def _install(app: FastAPI, settings: Settings, requests: Requests) -> None:
    """Routes, and what every request goes through."""
    for router in (
        *map(questions.router_of, KINDS.values()),
        testsets.router,
        webhooks.router,
        probes.router,
        site_routes.router,
        questions.router,
    ):
        app.router.routes.extend(router.routes)
    app.add_middleware(Compression, minimum_size=MIN_COMPRESSED, compresslevel=LEVEL)
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes, answer=site.answer)
    app.add_middleware(Head)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["*"],  # keys come in headers; cookies are never read across origins
            expose_headers=[*document.WORDS, *document.EVERYWHERE],
        )
    app.add_middleware(Gate, settings=settings, answer=site.answer)
    app.add_middleware(CutShort)
    app.add_middleware(Observer, requests=requests)  # outside of what refuses
