"""What stands before the routes: no name without the token, a policy on every answer, the token out of the address."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.testing import a_trace
from tests.server.asking import HOST, KNOWN, TOKEN, ask, served


def test_without_the_token_nothing_is_told(tmp_path: Path) -> None:
    a_trace(tmp_path)
    app = served(tmp_path)
    for path in ("/", "/run/run-1", "/run/run-1/stream", "/stream", "/nowhere"):
        for headers in ({"host": HOST}, {"host": HOST, "cookie": "debug-tracer-7007=wrong"}):
            answer = ask(app, path, headers)
            assert answer.status == 403
            assert b"run-1" not in answer.body and answer.body.count(b"token") == 1
    assert ask(app, "/", KNOWN | {"host": "evil.example"}).status == 421


def test_the_token_moves_from_the_address_into_a_cookie(tmp_path: Path) -> None:
    answer = ask(served(tmp_path), "/run/x%20y", {"host": HOST}, query=f"token={TOKEN}".encode())
    assert (answer.status, answer.headers["location"]) == (303, "/run/x%20y")
    assert answer.headers["set-cookie"].startswith(f"debug-tracer-7007={TOKEN};")


def test_the_way_on_stays_on_this_server(tmp_path: Path) -> None:
    for path in (b"//evil.example/", b"/\\evil.example/"):
        assert ask(served(tmp_path), path, {"host": HOST}, query=f"token={TOKEN}".encode()).headers["location"] == "/"


@pytest.mark.parametrize("path", ["/", "/run/run-1", "/run/none", "/nowhere", "/run/run-1/control"])
def test_every_answer_has_its_policy(tmp_path: Path, path: str) -> None:
    a_trace(tmp_path)
    answer = ask(served(tmp_path), path)
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(tmp_path: Path, method: str) -> None:
    assert ask(served(tmp_path), "/", method=method).status == 405
