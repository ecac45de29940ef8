"""One answer of the server, whole or as a stream, and how it is sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from debugtracer.server.access import HEADERS, SHUT

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

TEXT, HTML, EVENTS = "text/plain; charset=utf-8", "text/html; charset=utf-8", "text/event-stream"
JSON = "application/json"
POLICY = "content-security-policy"


@dataclass(frozen=True)
class Answer:
    """Status, body and further headers; every answer has the headers of `access` and a policy."""

    status: int = 200
    body: bytes = b""
    kind: str = TEXT
    headers: dict[str, str] = field(default_factory=dict)

    async def send(self, send: Send, with_body: bool = True) -> None:
        """Send it; a HEAD request gets its headers alone."""
        length = {"content-length": str(len(self.body))} if self.status != 204 else {}
        await send(self.start(length))
        await send({"type": "http.response.body", "body": self.body if with_body else b""})

    async def send_stream(
        self, source: AsyncIterator[bytes], receive: Receive, send: Send, closing: asyncio.Event
    ) -> None:
        """Send the pieces as they come; `closing` is set when nobody listens any more."""
        waiting = asyncio.create_task(hung_up(receive, closing))
        try:
            await send(self.start({}))
            async for piece in source:
                if closing.is_set():
                    break
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            waiting.cancel()

    def start(self, more: dict[str, str]) -> Message:
        """The first message of the answer."""
        headers = HEADERS | {POLICY: SHUT, "content-type": self.kind} | more | self.headers
        pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        return {"type": "http.response.start", "status": self.status, "headers": pairs}


def text_answer(status: int, text: str, **headers: str) -> Answer:
    """Make an answer of one sentence, plain text."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, f"debug-tracer: {text}\n".encode(), headers=named)


async def hung_up(receive: Receive, closing: asyncio.Event) -> None:
    """Wait until the other side is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
    closing.set()
