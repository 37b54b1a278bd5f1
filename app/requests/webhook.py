"""A request's body to a webhook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from app.requests.envelope import read_object
from app.requests.parsing import Parse
from sigtest.data.choices import choose
from workers.store.messages import EVENTS


@dataclass(frozen=True)
class WantedWebhook:
    """A webhook that is asked for, still to be checked.

    Attributes:
        url: Where messages are to be sent.
        events: What it is to be told of; everything by default.
    """

    url: object
    events: object


async def _read(request: Request, parser: Parse) -> WantedWebhook:
    body = await read_object(request, parser)
    for field in body:
        choose(field, ("url", "events"), field[:60], "field")
    return WantedWebhook(body.get("url"), body.get("events", list(EVENTS)))


Wanted = Annotated[WantedWebhook, Depends(_read)]
