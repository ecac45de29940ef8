"""Where the parameters of the model live, and how often the loop waits for a device."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class Devices(Fact, frozen=True, kw_only=True):
    """Parameters by the kind of device; emitted when it changes."""

    ABOUT = "an optimizer"
    KEEP = 4

    counts: tuple[tuple[str, int], ...]
    """Kind (`cpu`, `cuda`) and number of parameters, most first."""
    few: tuple[str, ...]
    """Parameters on the kind with the fewest."""


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """One line that reads a value from a device."""

    function: str
    frame: Frame | None
    count: int


class HostSyncs(Fact, frozen=True, kw_only=True):
    """Calls of one inspected step that wait for an accelerator: item, tolist, cpu, bool, nonzero."""

    ABOUT = "an accelerator"
    KEEP = 8

    count: int
    at: tuple[Waiting, ...]

    def key(self) -> object:
        """Identify the step: each inspected one is new."""
        return self.ref.step
