"""The routes: the list of runs, the page of a run, what is new of either, a word to a run."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from debugtracer.errors import DebugTracerError, UsageError
from debugtracer.server import streams
from debugtracer.server.access import Access
from debugtracer.server.guard import Guard
from debugtracer.server.run_feed import RunFeed
from debugtracer.server.runs import Runs
from debugtracer.server.word import give_word
from debugtracer.views.page.template import filled, live_policy, live_template

MOST_STREAMS = 32
MOST_FEEDS = 8  # runs kept in memory
MOST_BODY = 1024
LIST_SCHEMA = "debug-tracer.runs/1"
NO_RUN = "debug-tracer: there is no such run here; it was deleted, renamed or never was.\n"


class Served:
    """The application of one server: its runs and what is open of them."""

    def __init__(self, runs: Runs, access: Access, control: bool) -> None:
        """Take what is shown, who may see it, and whether a word to a run may be given."""
        self.runs, self.access, self.control = runs, access, control
        self.feeds: OrderedDict[str, RunFeed] = OrderedDict()
        self.open = 0

    def app(self) -> Guard:
        """The ASGI application."""
        routes = [
            Route("/", self.home),
            Route("/stream", self.list_stream),
            Route("/run/{name}", self.run),
            Route("/run/{name}/stream", self.run_stream),
            Route("/run/{name}/control", self.word, methods=["POST"]),
        ]
        return Guard(Starlette(routes=routes), self.access)

    async def feed(self, request: Request) -> RunFeed | None:
        """What follows the run that the address names."""
        path = await run_sync(self.runs.find, request.path_params["name"])
        if path is None:
            return None
        feed = self.feeds.setdefault(path.name, RunFeed(path))
        self.feeds.move_to_end(path.name)
        while len(self.feeds) > MOST_FEEDS:
            self.feeds.popitem(last=False)
        return feed

    async def home(self, request: Request) -> Response:
        """The list; of one run alone, its page."""
        if self.runs.alone:
            return RedirectResponse(request.url_for("run", name=self.runs.path.name).path, 303)
        rows = await run_sync(self.runs.rows)
        page = {"schema": LIST_SCHEMA, "id": self.runs.path.name, "now": time.time(), "folder": str(self.runs.path)}
        return shown(page | {"runs": rows}, "\n".join(f"{row['id']}: {row.get('line', '')}" for row in rows))

    async def run(self, request: Request) -> Response:
        """The page of a run with all of it that is written now."""
        feed = await self.feed(request)
        if feed is None:
            return PlainTextResponse(NO_RUN, 404)
        try:
            page, text = await run_sync(feed.page)
        except (DebugTracerError, OSError):
            return PlainTextResponse(NO_RUN, 404)
        live = {"now": time.time(), "list": not self.runs.alone, "token": self.access.token if self.control else ""}
        return await run_sync(shown, page | {"live": live}, text)

    async def run_stream(self, request: Request) -> Response:
        """What is new of a run."""
        feed = await self.feed(request)
        if feed is None:
            # no stream ends with 404: the browser would give up without a word to the page
            return self.streamed(gone())
        if request.method == "HEAD":
            return Response()
        mark = request.headers.get("last-event-id") or request.query_params.get("since", "")
        return self.streamed(streams.of_run(feed, mark))

    async def list_stream(self, request: Request) -> Response:
        """What is new in the list."""
        return self.streamed(streams.of_list(self.runs)) if request.method == "GET" else Response()

    async def word(self, request: Request) -> Response:
        """A word to a run: 204, 404 without such a run, 409 where it would not be obeyed."""
        if not self.control:
            return PlainTextResponse("this server only shows: start it with --control", 403)
        feed = await self.feed(request)
        if feed is None:
            return PlainTextResponse(NO_RUN, 404)
        try:
            body = await limited(request)
            word = msgspec.json.decode(body, type=dict[str, Any]).get("word")
            await run_sync(feed.look)
            await run_sync(give_word, feed.path, word, feed.state())
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return PlainTextResponse('expected {"word": "pause"}', 400)
        except UsageError as error:
            return PlainTextResponse(str(error), 409)
        except OSError as error:
            return PlainTextResponse(f"the word could not be written ({error.strerror})", 500)
        return Response(status_code=204)

    def streamed(self, source: AsyncIterator[bytes]) -> Response:
        """Answer with a stream, if there are not too many."""
        if self.open >= MOST_STREAMS:
            return PlainTextResponse("too many pages are open; close some\n", 503)
        return StreamingResponse(self.counted(source), media_type="text/event-stream")

    async def counted(self, source: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Pass the stream on and count it as open meanwhile."""
        self.open += 1
        try:
            async for piece in source:
                yield piece
        finally:
            self.open -= 1


async def gone() -> AsyncIterator[bytes]:
    """The stream of a run that is not there."""
    yield streams.event("gone", b"{}")


async def limited(request: Request) -> bytes:
    """The body, of which no more is taken than a word needs. Raises UsageError."""
    body = b""
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > MOST_BODY:
                raise UsageError(f"a word to a run has at most {MOST_BODY} bytes")
    except ClientDisconnect:
        raise UsageError("the request ended in its middle") from None
    return body


def shown(page: dict[str, Any], text: str) -> Response:
    """The built page with this document in it, under a policy that lets it ask this server alone."""
    headers = {"content-security-policy": f"{live_policy()}; frame-ancestors 'none'"}
    return HTMLResponse(filled(page, text, live_template()), headers=headers)
