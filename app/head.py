"""HEAD: what GET would answer, without the body."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Head:
    """Middleware: routes know GET alone; a HEAD is a GET whose answer ends with its headers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let GET be answered; a stream is over, for its sender too, before it begins."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def beginning(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                await send({"type": "http.response.body", "body": b""})

        # a copy: the server looks at the method in its own, and sends no body with HEAD
        await self.app({**scope, "method": "GET"}, receive, beginning)
