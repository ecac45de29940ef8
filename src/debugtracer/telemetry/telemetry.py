"""All telemetry of one run: what was asked for, from the start of its program to its end."""

from __future__ import annotations

import sys
from pathlib import Path

from debugtracer.telemetry.endpoint import Endpoint
from debugtracer.telemetry.follower import Follower, Receiver
from debugtracer.telemetry.otlp import Otlp


class Telemetry:
    """In the process of `debug-tracer run`, which makes none where nothing is asked for."""

    def __init__(self, run: Path, port: int | None, host: str, token: str, otlp: str) -> None:
        """Build what was asked for. Raises UsageError where a package is missing; an address that cannot be listened
        at is one line."""
        receivers: list[Receiver] = []
        if port is not None:
            try:
                receivers.append(Endpoint(run, host, port, token))
            except (OSError, OverflowError) as error:  # two runs on one machine may have the same port
                why = getattr(error, "strerror", None) or error
                print(
                    f"debug-tracer: telemetry - {host}:{port} cannot be listened at ({why}) - give another port with "
                    "--metrics-port; training goes on without it.",
                    file=sys.stderr,
                    flush=True,
                )
        if otlp:
            receivers.append(Otlp(otlp, run.name))
        self.follower = Follower(run, receivers) if receivers else None

    def start(self) -> None:
        """Begin; called when the program has started, so that no thread is there at its fork."""
        if self.follower is not None:
            self.follower.start()

    def end(self) -> None:
        """Look once more and send what is left, in a bounded time."""
        if self.follower is not None:
            self.follower.end()
