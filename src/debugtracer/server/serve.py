"""Listening: a free port, the address to open, and the server until it is interrupted."""

from __future__ import annotations

import secrets
import socket
import sys
from pathlib import Path
from threading import Thread

from debugtracer.errors import UsageError
from debugtracer.server.access import Access, loopback
from debugtracer.server.app import Served
from debugtracer.server.runs import Runs

PORT = 7007  # the first that is tried, so that a tunnel to it can be kept


def serve(path: Path, host: str, port: int | None, control: bool) -> None:
    """Listen and answer until interrupted. Raises UsageError where the extra or the address cannot be had."""
    try:
        import uvicorn
    except ImportError as error:
        raise UsageError(
            f"ui: {error.name} is not installed: pip install 'torch-debug-tracer[ui]'; without it `debug-tracer report "
            "RUN --format html -o report.html` makes the same page as a file."
        ) from None

    class Server(uvicorn.Server):  # type: ignore[misc,unused-ignore]
        """One whose streams end with it."""

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            served.close()
            await super().shutdown(sockets)

    listening = listen(host, port)
    listening.listen(128)  # whoever reads the address may ask at once
    chosen = int(listening.getsockname()[1])
    access = Access(secrets.token_urlsafe(24), host, chosen)
    Thread(target=warm_up, daemon=True).start()
    served = Served(Runs(path), access, control)
    tell(address(host, chosen, access.token), served.runs, host, control)
    config = uvicorn.Config(
        served,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=16_384,
    )
    Server(config).run(sockets=[listening])


def warm_up() -> None:
    """Import what the first page of a run needs: half a second while the person still opens the address."""
    import pyarrow.compute
    import pyarrow.parquet  # noqa: F401

    from debugtracer.trace.store import layer_log  # noqa: F401
    from debugtracer.trace.store.series import overview  # noqa: F401


def listen(host: str, port: int | None) -> socket.socket:
    """A socket at the port asked for; asked for none, at the usual one or any that is free. Raises UsageError."""
    for wanted in [PORT, 0] if port is None else [port]:
        try:
            family = socket.getaddrinfo(host, wanted, type=socket.SOCK_STREAM)[0][0]
            listening = socket.socket(family, socket.SOCK_STREAM)
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host, wanted))
            return listening
        except (OSError, OverflowError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
    raise UsageError(f"ui: {host}:{port if port is not None else PORT} cannot be listened at ({reason})")


def address(host: str, port: int, token: str) -> str:
    """What is opened in a browser."""
    name = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/?token={token}"


def tell(where: str, runs: Runs, host: str, control: bool) -> None:
    """Say what is served and where: the address on stdout, for programs too."""
    what = f"run {runs.path.name}" if runs.alone else f"the runs in {runs.path}"
    may = "it may pause, resume and stop runs" if control else "read-only"
    print(where, flush=True)
    print(f"debug-tracer: shows {what} at the address above, {may}; Ctrl-C ends it.", file=sys.stderr, flush=True)
    if not loopback(host):
        print(
            f"debug-tracer: {host} can be reached from other machines, without encryption; whoever has the address "
            "sees your runs.",
            file=sys.stderr,
            flush=True,
        )
