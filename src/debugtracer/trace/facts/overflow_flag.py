"""The overflow flag of a device that writes the largest number instead of Inf."""

from __future__ import annotations

from debugtracer.trace.facts.fact import Fact


class OverflowFlag(Fact, frozen=True, kw_only=True):
    """The flag was set when an inspected step closed."""

    ABOUT = "an accelerator"
    KEEP = 64

    device: str
    """Kind of device: `npu`."""
    since: int
    """The step of the update after which the flag was last seen clear."""

    def key(self) -> object:
        """Identify the step: each one with the flag is new."""
        return self.ref.step
