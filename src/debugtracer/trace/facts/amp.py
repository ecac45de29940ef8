"""What a program does with its GradScaler and autocast."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class ScalerSetup(Fact, frozen=True, kw_only=True):
    """A GradScaler was built."""

    ABOUT = "a GradScaler"
    KEEP = 8

    scaler: int
    """Its number, in the order in which they were built."""
    frame: Frame | None
    """Where the user built it."""
    enabled: bool
    init_scale: Number
    growth_factor: Number
    backoff_factor: Number
    growth_interval: int

    def key(self) -> object:
        """Identify the scaler that the fact is about."""
        return self.scaler


class AutocastSeen(Fact, frozen=True, kw_only=True):
    """A forward that is trained ran under autocast."""

    KEEP = 8

    device: str
    dtype: str
    frame: Frame | None
    """The user's line of the forward."""
    scaled: bool
    """Its backward began from a loss that an enabled scaler multiplied."""

    def key(self) -> object:
        """Identify the kind of autocast that the fact is about."""
        return (self.device, self.dtype)


class ScalerRefused(Fact, frozen=True, kw_only=True):
    """A call that a GradScaler refuses with an exception."""

    ABOUT = "a GradScaler"
    KEEP = 4

    what: str
    """`unscaled twice`, `unscaled after step`, `stepped twice`, `half gradients`."""
    frame: Frame | None
    before: Frame | None = None
    """The call that makes this one too much."""
    optimizer: str = ""
    param: str | None = None
    """A parameter whose gradient is float16."""
