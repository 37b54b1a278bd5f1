"""A request's body to a webhook."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from app.requests.envelope import read_object
from app.requests.parsing import Parse
from app.schema.webhooks import WebhookRequest


async def _read(request: Request, parser: Parse) -> WebhookRequest:
    return WebhookRequest.of(await read_object(request, parser))


Wanted = Annotated[WebhookRequest, Depends(_read)]
