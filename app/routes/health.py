"""Probes, and where everything else is."""

from __future__ import annotations

from fastapi import APIRouter

from app import contract
from app.dependencies import Queue
from app.errors import UnreadyError
from app.schemas import EntryBody, HealthBody, ReadyBody

router = APIRouter(tags=["probes"], responses=contract.PROBLEMS)


@router.get("/")
async def entry() -> EntryBody:
    """Where the description of this service is, and its collections."""
    return EntryBody()


@router.get("/healthz")
async def healthz() -> HealthBody:
    """The process is alive."""
    return HealthBody()


@router.get("/readyz")
def readyz(jobs: Queue) -> ReadyBody:
    """The storage can be reached and at least one worker is there.

    Raises:
        UnreadyError: No worker is.
    """
    jobs.check()
    alive = jobs.workers()
    if not alive:
        raise UnreadyError("No worker process is running; comparisons would wait.")
    return ReadyBody(workers=alive)
