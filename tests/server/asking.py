"""Asking the application without a socket: one request, and the whole of its answer."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from debugtracer.server.access import Access
from debugtracer.server.app import Served
from debugtracer.server.runs import Runs

TOKEN = "the-token"
HOST = "127.0.0.1:7007"
KNOWN = {"host": HOST, "cookie": f"debug-tracer-7007={TOKEN}"}
WORD = {"host": HOST, "x-debug-tracer-token": TOKEN}


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes


def served(folder: Path, control: bool = False) -> Any:
    """The application over a folder."""
    return Served(Runs(folder), Access(TOKEN, "127.0.0.1", 7007), control)


def ask(
    app: Any,
    path: bytes | str,
    headers: dict[str, str] | list[tuple[bytes, bytes]] = KNOWN,
    method: str = "GET",
    body: bytes = b"",
    query: bytes = b"",
    pieces: int = 1000,
) -> Answer:
    """One request; a stream that does not end is left after so many pieces, or half a second."""
    raw = path.encode() if isinstance(path, str) else path
    pairs = [(k.encode(), v.encode()) for k, v in headers.items()] if isinstance(headers, dict) else headers
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote_to_bytes(raw).decode("utf-8", "replace"),
        "raw_path": raw,
        "query_string": query,
        "root_path": "",
        "headers": pairs,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 7007),
    }
    return asyncio.run(exchange(app, scope, body, pieces))


async def exchange(app: Any, scope: dict[str, Any], body: bytes, pieces: int) -> Answer:
    """Send the request and collect the answer."""
    sent: list[dict[str, Any]] = []
    asked = False
    enough = asyncio.Event()

    async def receive() -> dict[str, Any]:
        nonlocal asked
        if not asked:
            asked = True
            return {"type": "http.request", "body": body, "more_body": False}
        await enough.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)
        if len(sent) > pieces:
            enough.set()

    task = asyncio.create_task(app(scope, receive, send))
    done, _ = await asyncio.wait([task], timeout=20 if pieces >= 1000 else 5)
    enough.set()
    if not done:
        await asyncio.wait([task], timeout=20)
    task.result()
    (start,) = [m for m in sent if m["type"] == "http.response.start"]
    names = {k.decode(): v.decode("latin-1") for k, v in start["headers"]}
    return Answer(start["status"], names, b"".join(m.get("body", b"") for m in sent if m is not start))


def document(answer: Answer) -> Any:
    """The document in a page."""
    (data,) = re.findall(rb'id="data">([^<]*)</script>', answer.body)
    return json.loads(gzip.decompress(base64.b64decode(data)))
