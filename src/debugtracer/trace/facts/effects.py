"""What an update has done to the parameters of its optimizer.

What must hold: (docs/rationale/checks.md#effect-invariants)."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class Effect(Fact, frozen=True, kw_only=True):
    """One update of an inspected step."""

    ABOUT = "an optimizer"
    KEEP = 16

    optimizer: int
    kind: str
    frame: Frame | None
    """Where the user built the optimizer."""
    by_torch: bool
    """Its class is one of torch's own."""
    number: int
    """Updates of this optimizer before this one."""
    expected: int
    """Parameters whose gradient and learning rate are large enough to change them."""
    unchanged: tuple[str, ...] = ()
    """Those of them that it left as they were, the first few."""
    stopped: int | None = None
    """The last update that was seen to move everything, where this one moves nothing."""
    called: Frame | None = None
    """The line that called such an update."""
    unchanged_count: int = 0

    def key(self) -> object:
        """Identify the optimizer that the fact is about."""
        return self.optimizer


class HalfState(Fact, frozen=True, kw_only=True):
    """An optimizer adds its eps in float16 or bfloat16."""

    ABOUT = "an optimizer"
    KEEP = 8

    optimizer: int
    kind: str
    frame: Frame | None
    eps: Number
    dtype: str
    least: Number
    """The least number above 0 of that dtype."""
    param: str

    def key(self) -> object:
        """Identify the optimizer and dtype that the fact is about."""
        return (self.optimizer, self.dtype)


class DecayedGains(Fact, frozen=True, kw_only=True):
    """Gains of normalisation layers under weight decay."""

    ABOUT = "an optimizer"
    KEEP = 8

    optimizer: int
    kind: str
    frame: Frame | None
    params: tuple[str, ...]
    """The first of them."""
    count: int
    decay: Number
    factor: Number
    """What decay alone would have made of them since the first update, as a factor."""
    size: Number
    """Their mean absolute value beside that at the first update, as a factor."""
    updates: int = 0
    """Updates over which decay was summed."""
    spared: int | None = None
    """Parameters in the groups without decay; None where there is no such group."""
    group_frame: Frame | None = None
    """The line that sorts parameters into the group with decay."""

    def key(self) -> object:
        """Identify the optimizer that the fact is about."""
        return self.optimizer
