"""What routes ask for by type: settings and the queue (who asks is in `auth.py`)."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from app.settings import Settings
from workers.jobs import Jobs


async def _settings(request: Request) -> Settings:
    settings: Settings = request.state.settings
    return settings


async def _jobs(request: Request) -> Jobs:
    jobs: Jobs = request.state.jobs
    return jobs


Limits = Annotated[Settings, Depends(_settings)]
Queue = Annotated[Jobs, Depends(_jobs)]
