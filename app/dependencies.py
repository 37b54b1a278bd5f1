"""What routes ask for by type: settings and the queue (who asks is in `auth.py`)."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from app.settings import Settings
from workers.jobs import Jobs
from workers.leaderboards import Leaderboards


async def _settings(request: Request) -> Settings:
    settings: Settings = request.state.settings
    return settings


async def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.state.jobs
    return jobs


async def _leaderboards(request: Request) -> Leaderboards:
    leaderboards: Leaderboards = request.state.leaderboards
    return leaderboards


Limits = Annotated[Settings, Depends(_settings)]
Queue = Annotated[Jobs, Depends(_jobs)]
Boards = Annotated[Leaderboards, Depends(_leaderboards)]
