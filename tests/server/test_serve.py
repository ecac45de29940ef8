"""The server itself, over its socket: it listens where it says, and nothing that is sent to it ends it."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from debugtracer.errors import UsageError
from debugtracer.server.serve import address, listen
from debugtracer.testing import a_trace
from tests.browser import missing

HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n"


def test_a_port_that_is_taken_is_said_and_the_usual_one_gives_way() -> None:
    first = listen("127.0.0.1", 0)
    first.listen()
    taken = first.getsockname()[1]
    with pytest.raises(UsageError, match=f"127.0.0.1:{taken} cannot be listened at"):
        listen("127.0.0.1", taken)
    with pytest.raises(UsageError, match="cannot be listened at"):
        listen("no.such.host.invalid", None)
    with pytest.raises(UsageError, match="cannot be listened at"):
        listen("127.0.0.1", 99_999_999)
    usual, other = listen("127.0.0.1", None), None
    usual.listen()
    other = listen("127.0.0.1", None)
    assert other.getsockname()[1] != usual.getsockname()[1]
    for one in (first, usual, other):
        one.close()


def test_the_address_can_be_opened_as_it_is() -> None:
    assert address("127.0.0.1", 7007, "t") == "http://127.0.0.1:7007/?token=t"
    assert address("::1", 7007, "t") == "http://[::1]:7007/?token=t"
    assert address("0.0.0.0", 7007, "t") == f"http://{socket.gethostname()}:7007/?token=t"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    try:
        import uvicorn  # noqa: F401
    except ImportError:
        missing("uvicorn")
    runs = tmp_path_factory.mktemp("runs")
    a_trace(runs)
    command = [sys.executable, "-m", "debugtracer", "ui", str(runs), "--port", "0", "--control"]
    path = os.pathsep.join(filter(None, [str(Path(__file__).parents[2] / "src"), os.environ.get("PYTHONPATH")]))
    env = os.environ | {"PYTHONPATH": path}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as server:
        assert server.stdout is not None and server.stderr is not None
        where = server.stdout.readline()
        try:
            yield int(where.split(":")[2].split("/")[0])
            assert server.poll() is None
        finally:
            server.terminate()
            told = server.stderr.read()
    assert "Traceback" not in told, told


def sent(port: int, data: bytes) -> bytes:
    """What comes back until the server closes, or has nothing more to say for a moment."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as link:
        found = b""
        with contextlib.suppress(OSError):
            link.sendall(data)
            link.shutdown(socket.SHUT_WR)
            while piece := link.recv(65_536):
                found += piece
        return found


PIECES = st.sampled_from(
    [b"GET ", b"POST ", b"/", b"run/run-1", b"/control", b" HTTP/1.1\r\n", b" HTTP/1.0\r\n", b"Host: 127.0.0.1\r\n",
     b"Transfer-Encoding: chunked\r\n",
     b"Content-Length: 9\r\n", b"Content-Length: -1\r\n",
     b"Upgrade: websocket\r\nConnection: Upgrade\r\n", b"\r\n",
     b"\n", b"\0", b"ffff\r\n", b"Cookie: a=b\r\n"]
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.lists(PIECES | st.binary(max_size=40), max_size=12).map(b"".join) | st.binary(max_size=300))
def test_bytes_of_any_kind_get_no_run_and_end_nothing(port: int, data: bytes) -> None:
    assert b"run-1" not in sent(port, data).partition(b"\r\n\r\n")[2]
    assert sent(port, HEAD % port).startswith(b"HTTP/1.1 403")
