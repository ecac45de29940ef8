"""Where measurements go: the contract that the trace writer fulfils."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from debugtracer.trace.events import AnyEvent


class Sink(Protocol):
    """Takes numbers and events of one rank. No method raises, none waits for the device."""

    off: str | None
    """Why nothing is written any more; None while all is well."""

    def point(self, step: int, values: Mapping[str, float]) -> None:
        """Take values of some series at a step; microseconds, no IO."""

    def event(self, event: AnyEvent, *, now: bool = False) -> None:
        """Take one event; with `now` it is with the operating system before the call returns."""

    def flush(self) -> None:
        """Hand everything so far to the operating system."""

    def close(self) -> None:
        """Flush what is left, then end."""

    def drop(self) -> None:
        """Forget everything without IO (in a forked child)."""
