"""What stands before every route: the rules of access, an end to what takes too much, headers on each answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from debugtracer.server.access import HEADERS, SHUT, Access

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOLD = "debug-tracer: this page needs the token of its server: open the whole address that `debug-tracer ui` printed.\n"
MOST_QUERY = 4096


class Guard:
    """An ASGI application around the routes."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        """Take the routes and the rules."""
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by itself what may not pass."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        status, body, extra = self.refusal(scope)
        if status:
            await answer(send, status, body, extra)
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name.lower() for name, _ in message["headers"]}
                policy = {} if b"content-security-policy" in there else {"content-security-policy": SHUT}
                message["headers"] = [*message["headers"], *encoded(HEADERS | policy)]
            await send(message)

        await self.app(scope, receive, sealed)

    def refusal(self, scope: Scope) -> tuple[int, str, dict[str, str]]:
        """Status, text and headers of the answer to a request that may not pass; status 0 for one that may."""
        if not self.access.named(every(scope, b"host")):
            return 421, "debug-tracer: this server does not answer to that name.\n", {}
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "debug-tracer: only GET, HEAD and POST are answered.\n", {"allow": "GET, HEAD, POST"}
        if scope["method"] == "POST":
            if not any(map(self.access.known, every(scope, b"x-debug-tracer-token"))):
                return 403, TOLD, {}
            return 0, "", {}
        if self.access.carried(every(scope, b"cookie")):
            return 0, "", {}
        query = scope["query_string"][:MOST_QUERY].decode("latin-1")
        try:
            given = [value for name, value in parse_qsl(query, max_num_fields=20) if name == "token"]
        except ValueError:
            given = []
        if any(map(self.access.known, given)):
            # the token leaves the address at once: it is to stand in no history
            place = scope.get("raw_path", b"/").split(b"?")[0].decode("latin-1")
            if not place.startswith("/") or place.startswith(("//", "/\\")):
                place = "/"
            return 303, "", {"location": place, "set-cookie": self.access.set_cookie()}
        return 403, TOLD, {}


def every(scope: Scope, name: bytes) -> list[str]:
    """The values of a header, however often it was sent."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def encoded(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    """Headers as ASGI wants them."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


async def answer(send: Send, status: int, text: str, extra: dict[str, str]) -> None:
    """Send one short answer of plain text."""
    body = text.encode()
    own = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(body))}
    start: dict[str, Any] = {"type": "http.response.start", "status": status}
    await send(start | {"headers": encoded(HEADERS | {"content-security-policy": SHUT} | own | extra)})
    await send({"type": "http.response.body", "body": body})
