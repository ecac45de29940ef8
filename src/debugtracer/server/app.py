"""The routes: the list of runs, the page of a run, what is new of either, a word to a run. An ASGI application."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote

import msgspec

from debugtracer.errors import DebugTracerError, UsageError
from debugtracer.server import streams
from debugtracer.server.access import Access
from debugtracer.server.answer import EVENTS, HTML, JSON, POLICY, Answer, Receive, Scope, Send, text_answer
from debugtracer.server.guard import MOST_QUERY, header_values, refusal
from debugtracer.server.run_feed import RunFeed
from debugtracer.server.runs import Runs
from debugtracer.server.trial import Trials
from debugtracer.server.word import write_control_word
from debugtracer.trace.store.followed_trace import FollowedTrace
from debugtracer.views.comparison import comparison
from debugtracer.views.comparison_text import render_comparison
from debugtracer.views.offered_remedies import offered_remedies
from debugtracer.views.page.template import filled, live_policy, live_template

MOST_STREAMS = 32
MOST_FEEDS = 8  # runs kept in memory
MOST_BODY = 1024
LIST_SCHEMA = "debug-tracer.runs/1"
ONLY_SHOWS = "this server only shows: start it with --control."
NO_RUN = "there is no such run here; it was deleted, renamed or never was."

Stream = Callable[[asyncio.Event], AsyncIterator[bytes]]


class Served:
    """The application of one server: its runs and what is open of them."""

    def __init__(self, runs: Runs, access: Access, control: bool) -> None:
        """Take what is shown, who may see it, and whether a word to a run may be given."""
        self.runs, self.access, self.control = runs, access, control
        self.feeds: OrderedDict[Path, RunFeed] = OrderedDict()
        self.streams: set[asyncio.Event] = set()
        self.trials = Trials()
        self.closed = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whoever it is from; one that is cut off because the server goes ends without a word."""
        try:
            await self.respond(scope, receive, send)
        except asyncio.CancelledError:
            if not self.closed:
                raise

    async def respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer to one request."""
        if scope["type"] != "http":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        answer = refusal(scope, self.access) or await self.answer(scope, receive)
        if isinstance(answer, Answer):
            await answer.send(send, scope["method"] != "HEAD")
        elif scope["method"] == "HEAD":
            await Answer(kind=EVENTS).send(send, False)
        else:
            await self.stream(answer, receive, send)

    async def answer(self, scope: Scope, receive: Receive) -> Answer | Stream:
        """The answer, or what makes a stream, by method and path."""
        posted = scope["method"] == "POST"
        match scope["path"].split("/")[1:]:
            case [""] if not posted:
                return await self.home()
            case ["stream"] if not posted:
                return lambda closing: streams.of_list(self.runs, closing)
            case ["run", name] if not posted:
                return await self.run(name)
            case ["compare", left, right] if not posted:
                return await self.compare(left, right)
            case ["run", name, "stream"] if not posted:
                return await self.run_stream(name, scope)
            case ["run", name, "control"] if posted:
                return await self.word(name, receive)
            case ["run", name, "remedies"] if posted:
                return await self.remedies(name)
            case ["run", name, "trial"] if posted:
                return await self.trial(name, receive)
        return text_answer(404, "there is nothing at this address.")

    async def feed(self, name: str) -> RunFeed | None:
        """What follows the run of that name."""
        path = await asyncio.to_thread(self.runs.find, name)
        if path is None:
            return None
        feed = self.feeds.setdefault(path, RunFeed(path))
        self.feeds.move_to_end(path)
        while len(self.feeds) > MOST_FEEDS:
            self.feeds.popitem(last=False)
        return feed

    async def home(self) -> Answer:
        """The list; of one run alone, its page."""
        if self.runs.alone:
            return Answer(303, headers={"location": f"/run/{quote(self.runs.path.name, safe='')}"})
        rows = await asyncio.to_thread(self.runs.rows)
        page = {"schema": LIST_SCHEMA, "id": self.runs.path.name, "now": time.time(), "folder": str(self.runs.path)}
        return page_answer(page | {"runs": rows}, "\n".join(f"{row['id']}: {row.get('line', '')}" for row in rows))

    async def run(self, name: str) -> Answer:
        """The page of a run with all of it that is written now."""
        feed = await self.feed(name)
        try:
            page, text = await asyncio.to_thread(feed.page) if feed is not None else ({}, "")
        except (DebugTracerError, OSError):
            page = {}
        if not page:
            return text_answer(404, NO_RUN)
        live: dict[str, Any] = {"now": time.time(), "list": not self.runs.alone, "token": ""}
        if self.control and feed is not None:
            tried = self.trials.kept.get(feed.path, [])
            live |= {"token": self.access.token, "remedies": offered_remedies(), "tried": tried}
        return await asyncio.to_thread(page_answer, page | {"live": live}, text)

    async def compare(self, left: str, right: str) -> Answer:
        """The page of two runs side by side as they are now."""
        paths = [await asyncio.to_thread(self.runs.find, name) for name in (left, right)]
        there = [path for path in paths if path is not None]
        if len(there) < 2:
            return text_answer(404, NO_RUN)
        try:
            told = await asyncio.to_thread(comparison, *(FollowedTrace(path) for path in there))
        except OSError:
            return text_answer(404, NO_RUN)
        return await asyncio.to_thread(page_answer, told | {"live": True}, render_comparison(told))

    async def run_stream(self, name: str, scope: Scope) -> Stream:
        """What is new of a run; of one that is not there, that it is gone: a browser takes no 404 up again."""
        feed = await self.feed(name)
        if feed is None:
            return lambda closing: streams.of_none()
        query = parse_qs(scope["query_string"][:MOST_QUERY].decode("latin-1"))
        mark = (header_values(scope, "last-event-id") or query.get("since") or [""])[0]
        return lambda closing: streams.of_run(feed, mark, closing)

    async def word(self, name: str, receive: Receive) -> Answer:
        """A word to a run: 204, 404 without such a run, 409 where it would not be obeyed."""
        if not self.control:
            return text_answer(403, ONLY_SHOWS)
        feed = await self.feed(name)
        if feed is None:
            return text_answer(404, NO_RUN)
        try:
            word = msgspec.json.decode(await body_of(receive), type=dict[str, Any]).get("word")
            await asyncio.to_thread(feed.look)
            await asyncio.to_thread(write_control_word, feed.path, word, feed.state())
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return text_answer(400, 'expected {"word": "pause"}.')
        except UsageError as error:
            return text_answer(409, f"{error}.")
        except OSError as error:
            return text_answer(500, f"the word could not be written ({error.strerror}).")
        return Answer(204)

    async def remedies(self, name: str) -> Answer:
        """The remedies that the recorded step does not allow, and why: it is asked in a process of its own."""
        if not self.control:
            return text_answer(403, ONLY_SHOWS)
        path = await asyncio.to_thread(self.runs.find, name)
        if path is None:
            return text_answer(404, NO_RUN)
        try:
            refused = await self.trials.refusals(FollowedTrace(path))
        except (UsageError, OSError) as error:
            return text_answer(409, f"{error}.")
        return Answer(200, msgspec.json.encode({"refused": refused}), JSON)

    async def trial(self, name: str, receive: Receive) -> Answer:
        """A remedy to try: its rows, 404 without such a run, 409 where it could not be tried."""
        if not self.control:
            return text_answer(403, ONLY_SHOWS)
        path = await asyncio.to_thread(self.runs.find, name)
        if path is None:
            return text_answer(404, NO_RUN)
        try:
            remedy = msgspec.json.decode(await body_of(receive), type=dict[str, Any]).get("remedy")
            rows = await self.trials.attempt(FollowedTrace(path), remedy)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return text_answer(400, 'expected {"remedy": "larger-eps"}.')
        except UsageError as error:
            return text_answer(409, f"{error}.")
        except OSError as error:
            return text_answer(500, f"the replay could not be started ({error.strerror}).")
        return Answer(200, msgspec.json.encode({"trials": rows}), JSON)

    async def stream(self, source: Stream, receive: Receive, send: Send) -> None:
        """Send a stream, if there are not too many."""
        if len(self.streams) >= MOST_STREAMS:
            await text_answer(503, "too many pages are open; close some.").send(send)
            return
        closing = asyncio.Event()
        if self.closed:
            closing.set()  # its request was under way when the others were told
        self.streams.add(closing)
        try:
            await Answer(kind=EVENTS).send_stream(source(closing), receive, send, closing)
        finally:
            self.streams.discard(closing)

    def close(self) -> None:
        """End every stream, and those that would still begin: the server is to go."""
        self.closed = True
        for closing in self.streams:
            closing.set()


async def body_of(receive: Receive) -> bytes:
    """The body of a request, of which no more is taken than a word needs. Raises UsageError."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise UsageError("the request ended in its middle")
        body += bytes(message.get("body", b""))
        if len(body) > MOST_BODY:
            raise UsageError(f"a word to a run has at most {MOST_BODY} bytes")
        if not message.get("more_body"):
            return body


def page_answer(page: dict[str, Any], text: str) -> Answer:
    """The built page with this document in it, under a policy that lets it ask this server alone."""
    body = filled(page, text, live_template()).encode("utf-8", "replace")
    return Answer(200, body, HTML, {POLICY: f"{live_policy()}; frame-ancestors 'none'"})
