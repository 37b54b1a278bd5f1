"""The application: settings, what is open while it runs, routes, and what errors become."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from functools import partial
from typing import TypedDict

from fastapi import Depends, FastAPI

from app import contract, problems
from app.dependencies import refuse_unknown_parameters
from app.head import Head
from app.headers import NoSniffing
from app.limits import BodyLimit
from app.routes import comparisons, health, plots, testset_plots, testsets
from app.settings import Settings
from app.waiting import Watcher, stopping
from sigtest.version import __version__
from workers.jobs import Jobs
from workers.leaderboards import Leaderboards
from workers.queue.news import News
from workers.settings import Settings as QueueSettings


class State(TypedDict):
    """What is open while the service runs, and travels with every request."""

    settings: Settings
    jobs: Jobs
    leaderboards: Leaderboards
    watcher: Watcher


def create_app(settings: Settings | None = None, queue: QueueSettings | None = None) -> FastAPI:
    """Build the service; `uvicorn --factory app.main:create_app` runs it.

    Args:
        settings: Limits and keys; from the environment by default.
        queue: Where comparisons are kept; from the environment by default.

    Raises:
        SettingError: A setting that makes no sense.
    """
    chosen = settings or Settings.of()
    stored = queue or QueueSettings.of()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[State]:
        jobs = Jobs.connect(stored)
        boards = Leaderboards.connect(stored)
        news = News.connect(stored)
        with stopping() as event, closing(news):
            watcher = Watcher(jobs, news, event)
            yield State(settings=chosen, jobs=jobs, leaderboards=boards, watcher=watcher)

    app = FastAPI(
        title="sigtest",
        summary="Calibrated significance tests for comparing translation systems.",
        description=contract.DESCRIPTION,
        version=__version__,
        openapi_tags=contract.TAGS,
        license_info={"name": "MIT", "identifier": "MIT"},
        docs_url=None,  # these pages would load their scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
        dependencies=[Depends(refuse_unknown_parameters)],
    )
    app.include_router(comparisons.router)
    app.include_router(plots.router)
    app.include_router(testsets.router)
    app.include_router(testset_plots.router)
    app.include_router(health.router)
    app.add_middleware(BodyLimit, max_bytes=chosen.max_body_bytes)
    app.add_middleware(Head)
    app.add_middleware(NoSniffing)  # outermost, so that refusals have it too
    app.openapi = partial(contract.document, app)  # type: ignore[method-assign]
    problems.install(app)
    return app
