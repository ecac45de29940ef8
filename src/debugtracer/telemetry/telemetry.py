"""All telemetry of one run: what was asked for, from the start of its program to its end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a run that asks for none of it does not import it
    from debugtracer.telemetry.follower import Follower, Receiver


class Telemetry:
    """In the process of `debug-tracer run`; where nothing was asked for it does nothing."""

    def __init__(self, run: Path, port: int | None, host: str, token: str, otlp: str) -> None:
        """Build what was asked for. Raises UsageError where a package is missing; an address that cannot be listened
        at is one line."""
        receivers: list[Receiver] = []
        if port is not None:
            from debugtracer.telemetry.endpoint import Endpoint

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
            from debugtracer.telemetry.otlp import Otlp

            receivers.append(Otlp(otlp, run.name))
        self.follower: Follower | None = None
        if receivers:
            from debugtracer.telemetry.follower import Follower as Following

            self.follower = Following(run, receivers)

    def start(self) -> None:
        """Begin; called when the program has started, so that no thread is there at its fork."""
        if self.follower is not None:
            self.follower.start()

    def end(self) -> None:
        """Look once more and send what is left, in a bounded time."""
        if self.follower is not None:
            self.follower.end()
