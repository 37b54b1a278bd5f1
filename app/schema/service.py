"""Wire models of the service itself: where everything is, probes, problems."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from app.http import problems
from app.schema.answers import ProgressBody
from sigtest.kinds import KINDS
from sigtest.version import __version__

TOLD = (*problems.KINDS.values(), problems.PARAMETERS, problems.INTERNAL)
TYPES = f"`{problems.PREFIX}` and one of " + ", ".join(
    f"`{kind.slug}` ({kind.title})" for kind in TOLD
)


class EntryBody(BaseModel):
    """Where everything else is."""

    version: str = Field(default=__version__, description="Of sigtest.")
    openapi: str = Field(default="/openapi.json", description="All requests and answers.")
    testsets: str = "/v1/testsets"
    webhooks: str = "/v1/webhooks"
    questions: dict[str, str] = Field(
        default={path: f"/v1/{path}" for path in KINDS}, description="Each kind of question."
    )


class HealthBody(BaseModel):
    """The process is alive."""

    status: Literal["ok"] = "ok"


class ReadyBody(BaseModel):
    """The service can do its work."""

    status: Literal["ready"] = "ready"
    workers: int = Field(description="Worker processes that are alive.")


class ProblemError(BaseModel):
    """One flaw of a request."""

    field: str | None = Field(
        default=None, description="Path of the field, or name of the parameter."
    )
    system: str | None = None
    line: int | None = Field(default=None, description="1-based line, or segment.")
    message: str


class Problem(BaseModel):
    """Problem details (RFC 9457)."""

    type: str = Field(
        description=f"Stable name of this kind of problem: {TYPES}, or what HTTP "
        "calls the status, such as `method-not-allowed`."
    )
    title: str
    status: int
    detail: str
    errors: list[ProblemError] | None = None
    limit: str | None = Field(
        default=None,
        description="Name of the setting that was exceeded, in small letters without SIGTEST_.",
    )
    predicted: dict[str, float] | None = Field(
        default=None,
        description="Of a question that is too much (413) or too much now (429): `seconds` of one "
        "core and `bytes` in the store that it is predicted to take, those `unfinished` of the "
        "same caller, and those that are `accepted`.",
    )
    progress: ProgressBody | None = Field(
        default=None, description="Of a question whose report is not there yet (409)."
    )
    id: str | None = Field(default=None, description="Of the entry in the service's log (500).")
