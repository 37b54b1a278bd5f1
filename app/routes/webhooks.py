"""The routes of webhooks."""

from typing import Annotated

from fastapi import Depends, Path, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.http.auth import Caller
from app.http.state import Limits, WebhookStore, routing
from app.models import WEBHOOKS, NewWebhookBody, WebhookBody, WebhookListing, WebhookRequest
from app.requests import bodies


async def _read(request: Request) -> WebhookRequest:
    return await bodies.read(request, WebhookRequest.of)


Body = Annotated[WebhookRequest, Depends(_read)]

router = routing(prefix=WEBHOOKS, tags=["webhooks"])

LIMIT = "max_webhooks"

Id = Annotated[str, Path(alias="id", description="Id of a webhook.")]


@router.post("", status_code=201)
async def add_webhook(
    caller: Caller, webhooks: WebhookStore, settings: Limits, body: Body
) -> Response:
    """Have messages sent to an address whenever one of these events happens.

    Messages are signed as Standard Webhooks 1.0 says; the secret is told in this answer and nowhere
    else. The same request makes another webhook. What the receiver does not answer with 2xx is
    sent again under the same `webhook-id`, with longer and longer pauses.
    """
    record, secret = await run_in_threadpool(
        webhooks.add, caller.name, body.url, body.events, settings.max_webhooks, LIMIT
    )
    answer = NewWebhookBody(
        **vars(WebhookBody.model_validate(record)), secret=secret
    ).model_dump_json()
    headers = {"Location": f"{WEBHOOKS}/{record.id}", "Cache-Control": "no-store"}
    return Response(answer, 201, headers, "application/json")


@router.get("")
def list_webhooks(caller: Caller, webhooks: WebhookStore) -> WebhookListing:
    """The caller's webhooks, newest first."""
    return WebhookListing(
        webhooks=[WebhookBody.model_validate(record) for record in webhooks.listing(caller.name)]
    )


@router.get("/{id}")
def get_webhook(webhook_id: Id, caller: Caller, webhooks: WebhookStore) -> WebhookBody:
    """A webhook, and how its deliveries go."""
    return WebhookBody.model_validate(webhooks.find(webhook_id, caller.name))


@router.delete("/{id}", status_code=204)
def delete_webhook(webhook_id: Id, caller: Caller, webhooks: WebhookStore) -> Response:
    """Delete a webhook; messages that wait are not sent."""
    webhooks.remove(webhook_id, caller.name)
    return Response(status_code=204)


@router.post("/{id}/test", status_code=202)
def test_webhook(webhook_id: Id, caller: Caller, webhooks: WebhookStore) -> WebhookBody:
    """Send a `webhook.test` message; `delivered` and `error` of the webhook say how it went."""
    return WebhookBody.model_validate(webhooks.test(webhook_id, caller.name))
