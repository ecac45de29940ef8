"""Server-sent events: the form that browsers read, and what ends a stream."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from debugtracer.server import streams
from debugtracer.server.run_feed import RunFeed
from debugtracer.server.runs import Runs
from debugtracer.testing import a_trace


def first(source: AsyncIterator[bytes], count: int) -> list[bytes]:
    async def take() -> list[bytes]:
        return [await anext(source) for _ in range(count)]

    return asyncio.run(asyncio.wait_for(take(), 30))


def test_the_first_event_holds_what_changed_since_the_mark(tmp_path: Path) -> None:
    feed = RunFeed(a_trace(tmp_path))
    _, told = first(streams.of_run(feed, "", asyncio.Event()), 2)
    mark, name, data, *end = told.split(b"\n")
    assert (mark, name, end) == (f"id: {feed.mark}".encode(), b"event: panels", [b"", b""])
    panels = json.loads(data.removeprefix(b"data: "))
    assert panels["state"]["status"] == "ended" and panels["now"] > 1e9 and panels["series"][0]["name"] == "loss"


def test_a_stream_says_in_the_run_that_its_page_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[Path, str]] = []
    monkeypatch.setattr(streams.Presence, "say", lambda one, state: said.append((one.run, state["status"])))
    run = a_trace(tmp_path)
    first(streams.of_run(RunFeed(run), "", asyncio.Event()), 2)
    assert said == [(run, "ended")]


def test_a_deleted_run_ends_its_stream_with_a_word(tmp_path: Path) -> None:
    run = a_trace(tmp_path)
    feed = RunFeed(run)
    shutil.rmtree(run)
    assert first(streams.of_run(feed, "", asyncio.Event()), 2)[1] == b"event: gone\ndata: {}\n\n"


def test_a_name_with_line_breaks_stays_one_line_of_data() -> None:
    assert streams.event("runs", json.dumps({"id": "a\n\ndata: b\r"}).encode()).count(b"\n") == 3


def test_the_list_is_told_with_the_clock_of_the_server(tmp_path: Path) -> None:
    a_trace(tmp_path)
    told = first(streams.of_list(Runs(tmp_path), asyncio.Event()), 2)[1]
    assert json.loads(told.split(b"data: ")[1])["runs"][0]["id"] == "run-1"


def test_a_server_that_closes_closes_its_streams_at_once(tmp_path: Path) -> None:
    async def closed() -> list[bytes]:
        closing = asyncio.Event()
        asyncio.get_running_loop().call_later(0.3, closing.set)
        return [piece async for piece in streams.of_run(RunFeed(a_trace(tmp_path)), "", closing)]

    assert len(asyncio.run(asyncio.wait_for(closed(), 1.5))) == 2
