"""Each answer carries the headers of the server, and a stream ends when nobody listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from debugtracer.server.access import HEADERS, SHUT
from debugtracer.server.answer import Answer, text_answer


def sent(send_with: Any) -> list[Any]:
    messages: list[Any] = []

    async def send(message: Any) -> None:
        messages.append(message)

    asyncio.run(asyncio.wait_for(send_with(send), 10))
    return messages


def test_a_sentence_carries_every_header_and_a_policy_that_shuts() -> None:
    start, body = sent(lambda send: text_answer(405, "no.", allow="GET").send(send))
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    assert HEADERS.items() < headers.items()
    assert (headers["content-security-policy"], headers["allow"], headers["content-length"]) == (SHUT, "GET", "18")
    assert body["body"] == b"debug-tracer: no.\n"


def test_a_head_request_gets_no_body() -> None:
    assert sent(lambda send: text_answer(200, "no.").send(send, False))[1]["body"] == b""


def test_a_stream_ends_when_the_other_side_hangs_up() -> None:
    async def pieces(closing: asyncio.Event) -> AsyncIterator[bytes]:
        yield b"first"
        await closing.wait()
        yield b"too late"

    async def hung_up() -> dict[str, str]:
        await asyncio.sleep(0.2)
        return {"type": "http.disconnect"}

    async def go(send: Any) -> None:
        closing = asyncio.Event()
        await Answer().send_stream(pieces(closing), hung_up, send, closing)

    assert [m["body"] for m in sent(go)[1:]] == [b"first", b""]
