"""New and old log-probabilities of one policy whose weights have not changed in between, and that differ."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class PolicyRatio(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step. Ratios are new to old probability."""

    KEEP = 8

    frame: Frame | None
    """The line of the difference of logarithms."""
    call_frame: Frame | None
    """The line whose call of the policy made the new ones."""
    old_frame: Frame | None
    """The line whose call made the old ones."""
    compared: int
    """Ratios that were looked at."""
    off: int
    """Ratios of these that are not 1."""
    low: Number
    high: Number
    rows: int = 0
    """Old ones of which the input is still known."""
    same: int = 0
    """Of these, new ones that were made from the same input."""
    shown: int = 0
    """Inputs of the new ones, of the first 64, that the policy was given before, for whatever row."""
    drawn: bool = False
    """The actions of the new ones were drawn after the policy was called."""
    noise: str = ""
    """A layer that makes other outputs each time: `dropout`, `batch_norm`."""

    def key(self) -> object:
        """Identify the lines of the ratio."""
        return self.frame, self.call_frame
