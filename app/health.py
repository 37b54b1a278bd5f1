"""Probes."""

from __future__ import annotations

from app.http.errors import UnreadyError
from app.http.state import Asked, routing
from app.schema.document import PROBLEMS
from app.schema.service import HealthBody, ReadyBody

router = routing(tags=["probes"], responses=PROBLEMS)


@router.get("/healthz")
async def healthz() -> HealthBody:
    """The process is alive."""
    return HealthBody()


@router.get("/readyz")
def readyz(asked: Asked) -> ReadyBody:
    """The storage can be reached and at least one worker is there.

    Raises:
        UnreadyError: No worker is.
    """
    asked.check()
    alive = asked.workers()
    if not alive:
        raise UnreadyError("No worker process is running; questions would wait.")
    return ReadyBody(workers=alive)
