"""Wire models of webhooks, and of the messages that their receivers get."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from annotated_types import Len
from fastapi import APIRouter
from pydantic import BaseModel, Field, create_model
from pydantic.config import JsonDict

from app.schema.fragments import absent, header
from sigtest.errors import InputError
from sigtest.requests.model import Must, OneOf, Request
from workers.store.messages import EVENTS, TEST
from workers.store.webhooks import WebhookRecord

PATH = "/v1/webhooks"
EXAMPLES = {
    "leaderboards": {
        "summary": "Tell of leaderboards.",
        "value": {"url": "https://board.example/hook", "events": ["leaderboard.refreshed"]},
    },
}
ONE: JsonDict = {"type": "string", "enum": list(EVENTS)}


class WebhookRequest(Request):
    """Where messages are sent, and of which events."""

    url: Annotated[str, Len(1, 2000), Must("an address of 1 to 2000 characters", InputError)] = (
        Field(
            description="http or https; private addresses are refused unless the operator allows "
            "them, and redirects are not followed"
        )
    )
    events: Annotated[
        tuple[Annotated[str, OneOf(EVENTS, "event")], ...],
        Len(1),
        Must(f"a list of some of {', '.join(EVENTS)}", InputError),
    ] = Field(
        default=tuple(EVENTS),
        description=" ".join(f"`{name}`: {words}" for name, words in EVENTS.items()),
    )


class WebhookBody(BaseModel):
    """A webhook, and how its deliveries go."""

    id: str
    url: str
    events: list[str] = Field(json_schema_extra={"items": ONE})
    created_at: datetime
    delivered: int = Field(description="Messages that the receiver accepted.")
    pending: int = Field(description="Messages that are still to be delivered.")
    dropped: int = Field(description="Messages that were given up.")
    error: str | None = Field(description="Why the last attempt failed, if it did.")

    @classmethod
    def of(cls, record: WebhookRecord) -> WebhookBody:
        """What is told of a stored webhook."""
        return cls(**vars(record))


class NewWebhookBody(WebhookBody):
    """A new webhook with its secret."""

    secret: str = Field(description="Messages are signed with it. It is told this once.")


class WebhookListing(BaseModel):
    """The caller's webhooks, newest first."""

    webhooks: list[WebhookBody]


class QuestionData(BaseModel):
    """A question that has its outcome: `/v1/{kind}/{id}`."""

    kind: str = Field(description="Path of its kind.")
    id: str
    status: Literal["succeeded", "failed", "cancelled"]
    error: str | None = Field(
        default=None, exclude_if=absent, description="Why it failed; only where it did."
    )
    title: str
    tags: list[str]
    metadata: dict[str, Any]


class LeaderboardData(BaseModel):
    """A test set whose leaderboard shows another comparison: `/v1/testsets/{id}/leaderboard`."""

    id: str = Field(description="Of the test set.")
    name: str
    comparison: str = Field(description="Id of the comparison that is shown.")
    title: str
    tags: list[str]
    metadata: dict[str, Any]


class TestData(BaseModel):
    """A webhook that is tried."""

    id: str = Field(description="Of the webhook.")


SIGNED = {
    "parameters": [
        header(name, words, required=True)
        for name, words in {
            "webhook-id": "The same for all attempts to deliver a message.",
            "webhook-timestamp": "Of the attempt, in seconds since the epoch.",
            "webhook-signature": "`v1,` and the HMAC-SHA256 of id, timestamp and body with points "
            "between, in base64.",
        }.items()
    ]
}
RECEIVED: dict[int | str, dict[str, Any]] = {
    204: {"description": "It was delivered, as with any 2xx, and is not sent again."},
    410: {"description": "The receiver wants no more: the webhook is deleted."},
    "default": {"description": "It is sent again later."},
}


def messages() -> APIRouter:
    """What receivers are sent, as routes that receivers have, not this service."""
    made = APIRouter(generate_unique_id_function=lambda route: route.name)
    for event, words in {**EVENTS, TEST: "A webhook is tried."}.items():
        made.add_api_route(
            event,
            _receiver(event),
            methods=["POST"],
            name=event.replace(".", "_"),
            description=words,
            status_code=204,
            openapi_extra=SIGNED,
            responses=RECEIVED,
        )
    return made


def _receiver(event: str) -> Any:
    data = {"question": QuestionData, "leaderboard": LeaderboardData, "webhook": TestData}
    subject, _, happened = event.partition(".")
    fields: dict[str, Any] = {
        "type": (Literal[event], ...),
        "timestamp": (datetime, Field(description="When it happened.")),
        "data": (data[subject], ...),
    }
    model = create_model(f"{subject.capitalize()}{happened.capitalize()}Message", **fields)

    def receive(message: Any) -> None:
        """Never called."""

    receive.__annotations__["message"] = model
    return receive
