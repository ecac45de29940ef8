"""Server-sent events: what is new of a run, and of the list of runs, as text that a browser follows by itself."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import msgspec

from debugtracer.server.presence import Presence
from debugtracer.server.run_feed import RunFeed
from debugtracer.server.runs import Runs

LOOK_S = 0.5  # between two looks at a run that trains
REST_S = 2.0  # between two looks at one that is over, and at the list
ALIVE_S = 10.0  # a line at least this often, so that both sides notice when the other is gone
RETRY = b"retry: 1500\n\n"


def event(name: str, data: bytes, mark: str = "") -> bytes:
    """Format one event. JSON has no line breaks of its own, so it is one line of data."""
    return (f"id: {mark}\n" if mark else "").encode() + f"event: {name}\ndata: ".encode() + data + b"\n\n"


def panels(changed: dict[str, bytes]) -> bytes:
    """The changed panels as one JSON object, with the clock of this machine: that of the browser may differ."""
    parts = [f'"now":{time.time():.1f}'.encode(), *(f'"{name}":'.encode() + text for name, text in changed.items())]
    return b"{" + b",".join(parts) + b"}"


async def of_run(feed: RunFeed, mark: str, closing: asyncio.Event) -> AsyncIterator[bytes]:
    """The panels that changed since a mark, now and whenever they change; the last event is `gone`."""
    yield RETRY
    told_s, presence = time.monotonic(), Presence(feed.path)
    while not closing.is_set():
        await asyncio.to_thread(feed.look)
        if feed.gone:
            yield event("gone", b"{}")
            return
        await asyncio.to_thread(presence.say, feed.state())
        if feed.mark != mark:
            changed, mark = feed.since(mark), feed.mark
            yield event("panels", panels(changed), mark)
            told_s = time.monotonic()
        elif time.monotonic() - told_s > ALIVE_S:
            yield event("alive", panels({}))
            told_s = time.monotonic()
        await rest(closing, REST_S if feed.state()["status"] in ("ended", "lost") else LOOK_S)


async def of_list(runs: Runs, closing: asyncio.Event) -> AsyncIterator[bytes]:
    """The rows of the list, whenever one changes."""
    yield RETRY
    last = b""
    told_s = time.monotonic()
    while not closing.is_set():
        rows = await asyncio.to_thread(runs.rows)
        text = msgspec.json.encode(rows)
        if text != last:
            last, told_s = text, time.monotonic()
            yield event("runs", panels({"runs": text}))
        elif time.monotonic() - told_s > ALIVE_S:
            yield event("alive", panels({}))
            told_s = time.monotonic()
        await rest(closing, 0.05 if any(row.get("pending") for row in rows) else REST_S)


async def rest(closing: asyncio.Event, rest_s: float) -> None:
    """Wait, but not for longer than the server is open."""
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(closing.wait(), rest_s)


async def of_none() -> AsyncIterator[bytes]:
    """The stream of a run that is not there."""
    yield event("gone", b"{}")
