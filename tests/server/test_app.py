"""The routes, and what anybody may throw at them: no path leads out, nothing is markup, nothing ends the server."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from debugtracer.testing import a_finding, a_trace
from debugtracer.trace.events import Found
from debugtracer.trace.store.manifest import Manifest, create_run, write_manifest
from debugtracer.trace.store.schema import CONTROL
from debugtracer.views.page.template import live_policy
from tests.server.asking import HOST, KNOWN, WORD, ask, document, served
from tests.views.test_comparison import a_run

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>"
SECRET = b"what lies outside of the folder"


def test_the_list_and_a_run_are_the_built_page_with_their_data(tmp_path: Path) -> None:
    a_trace(tmp_path, Found(at=1.0, rank=0, finding=a_finding(message=HOSTILE)))
    app = served(tmp_path)
    runs = ask(app, "/")
    assert [row["id"] for row in document(runs)["runs"]] == ["run-1"]
    run = ask(app, "/run/run-1")
    assert document(run)["series"][0]["name"] == "loss"
    assert document(run)["live"]["token"] == ""  # what only shows gives no script the token
    for answer in (runs, run):
        assert b"<script>document.title" not in answer.body
        assert answer.headers["content-security-policy"] == f"{live_policy()}; frame-ancestors 'none'"
        assert "connect-src 'self'" in live_policy() and "unsafe" not in live_policy()


def test_one_run_alone_leads_to_its_page(tmp_path: Path) -> None:
    answer = ask(served(a_trace(tmp_path)), "/")
    assert (answer.status, answer.headers["location"]) == (303, "/run/run-1")


def test_a_name_with_markup_is_text_in_the_list_and_an_address_of_its_own(tmp_path: Path) -> None:
    run = create_run(tmp_path, "run-1", ["train.py"], "dev")
    name = HOSTILE.replace("/", "_") + " 层%2e%2e"
    write_manifest(run, Manifest(id=name, command=(HOSTILE,)))
    run.rename(tmp_path / name)
    from urllib.parse import quote

    app = served(tmp_path)
    assert b"<script>document" not in ask(app, "/").body
    page = ask(app, f"/run/{quote(name, safe='')}")
    assert page.status == 200 and document(page)["id"] == name
    assert b"<script>document" not in page.body


def test_what_is_not_there_says_so(tmp_path: Path) -> None:
    app = served(tmp_path)
    assert ask(app, "/run/none").status == 404
    assert ask(app, "/run/none/stream").body == b"event: gone\ndata: {}\n\n"
    assert ask(app, "/run/none/control", WORD, "POST").status == 403


def test_a_stream_tells_the_panels(tmp_path: Path) -> None:
    a_trace(tmp_path)
    answer = ask(served(tmp_path), "/run/run-1/stream", pieces=2)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert b"event: panels" in answer.body


def test_a_stream_asked_for_while_the_server_goes_ends_at_once(tmp_path: Path) -> None:
    a_trace(tmp_path)
    app = served(tmp_path)
    app.close()
    begun_s = time.monotonic()
    for path in ("/stream", "/run/run-1/stream"):
        assert ask(app, path).body == b""
    assert time.monotonic() - begun_s < 10.0  # one that goes on is left after 20
    assert not app.streams


def test_what_is_cut_off_because_the_server_goes_ends_without_a_traceback(tmp_path: Path) -> None:
    async def cut(app: Any) -> bool:
        reached = asyncio.Event()

        async def answer(scope: Any, receive: Any) -> Any:
            reached.set()
            await asyncio.sleep(60.0)

        app.answer = answer
        scope = {"type": "http", "method": "GET", "path": "/", "query_string": b""}
        scope["headers"] = [(name.encode(), value.encode()) for name, value in KNOWN.items()]
        task = asyncio.create_task(app(scope, asyncio.sleep, asyncio.sleep))
        await reached.wait()
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(cut(served(tmp_path)))
    going = served(tmp_path)
    going.close()
    assert not asyncio.run(cut(going))


def test_a_word_is_given_only_with_the_flag_the_token_and_a_run_that_obeys(tmp_path: Path) -> None:
    run = create_run(tmp_path, "live", ["train.py"], "val")
    body = b'{"word": "pause"}'
    path = "/run/live/control"
    assert ask(served(tmp_path), path, WORD, "POST", body).status == 403
    app = served(tmp_path, control=True)
    assert ask(app, path, KNOWN, "POST", body).status == 403  # a cookie alone is sent by any page of this machine
    assert not (run / CONTROL).exists()
    assert document(ask(app, "/run/live"))["live"]["token"]
    assert ask(app, path, WORD, "POST", body).status == 204
    assert (run / CONTROL).read_text() == "pause\n"
    for wrong, status in [(b"", 400), (b"[1]", 400), (b'{"word": "halt"}', 409), (b"{" * 900, 400), (b" " * 2000, 409)]:
        assert ask(app, path, WORD, "POST", wrong).status == status
    a_trace(tmp_path)
    assert ask(app, "/run/run-1/control", WORD, "POST", body).status == 409


@pytest.fixture(scope="module")
def open_app(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "secret").write_bytes(SECRET)
    (folder / "secret.py").write_bytes(SECRET)
    runs = folder / "runs"
    a_trace(runs)
    (runs / "secret-link").symlink_to(folder)
    return served(runs, control=True)


STEPS = st.sampled_from(
    [b"run", b"run-1", b"stream", b"control", b"..", b"%2e%2e", b"%2f", b"..%2f", b"%00", b"secret", b"secret-link",
     b"rank=0", b"events.jsonl", b"run.json", b"%c0%ae", b"%ff", b"\\..", b"latest", b"C:", b"//", b"?", b"#", b";"]
)  # fmt: skip
PATHS = st.lists(STEPS | st.binary(max_size=12), max_size=8).map(lambda parts: b"/" + b"/".join(parts))
NAMES = st.sampled_from(
    [b"host", b"cookie", b"last-event-id", b"range", b"x-debug-tracer-token", b"origin", b"content-length"]
)
VALUES = st.sampled_from([HOST.encode(), KNOWN["cookie"].encode(), b"the-token"]) | st.binary(max_size=60)
FAITHFUL = [(k.encode(), v.encode()) for k, v in (KNOWN | WORD).items()]


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    path=PATHS,
    known=st.booleans(),
    headers=st.lists(st.tuples(NAMES | st.binary(min_size=1, max_size=12), VALUES), max_size=5),
    method=st.sampled_from(["GET", "POST", "HEAD", "PUT", "", "\x00"]),
    body=st.binary(max_size=1500) | st.sampled_from([b'{"word": "stop"}', b'{"word": {"a": 1}}']),
    query=st.binary(max_size=80) | st.sampled_from([b"token=the-token", b"token=" + b"x" * 5000, b"a=1&" * 50]),
)
def test_no_request_breaks_it_leads_out_or_is_answered_without_policy(
    open_app: Any, path: bytes, known: bool, headers: list[tuple[bytes, bytes]], method: str, body: bytes, query: bytes
) -> None:
    answer = ask(open_app, path, (FAITHFUL if known else []) + headers, method, body, query, pieces=2)
    assert answer.status in (200, 204, 303, 307, 400, 403, 404, 405, 409, 421)
    assert SECRET not in answer.body
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    if answer.status in (303, 307) and "location" in answer.headers:
        assert not re.match(r"(//|/\\|[a-z]+:(?!//127\.0\.0\.1:7007/))", answer.headers["location"])


def test_two_runs_are_compared_by_their_names_and_by_no_path(tmp_path: Path) -> None:
    for name in ("left", "right"):
        a_run(tmp_path, name, loss=[1.0, 0.5])
    app = served(tmp_path)
    told = ask(app, "/compare/left/right")
    assert told.status == 200 and b"the same in every number" in told.body
    assert "connect-src 'self'" in told.headers["content-security-policy"]
    for path in (
        "/compare/left/none",
        "/compare/left",
        "/compare/left/..",
        "/compare/%2e%2e/right",
        "/compare/left/right/x",
    ):
        assert ask(app, path).status == 404
    assert ask(app, "/compare/left/right", method="POST").status == 403
    assert ask(app, "/compare/left/right", headers={"host": HOST}).status == 403
