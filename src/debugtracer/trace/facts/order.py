"""In which order a loop calls what belongs to one update of one optimizer.

The order that is right: (docs/rationale/checks.md#order-automaton)."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One call of the program's that belongs to an update."""

    word: str
    """zero_grad, forward, backward, unscale, clip, schedule."""
    frame: Frame | None = None
    """The user's line of the call; None for a forward."""
    live: bool = False
    """Gradients of a backward since the last update were there; for a backward: it wrote gradients of this
    optimizer."""
    scaled: bool = False
    """Those gradients still carried the loss scale."""
    scale: Number | None = None
    """Of a clip: the loss scale they carried."""
    divided: bool = False
    """Of a backward: its loss is the result of a division or a product."""
    microbatch: bool = False
    """Of a backward: a loader gave a batch since the backward before, and the loss is no sum."""
    limit: Number | None = None
    """Of a clip: the largest norm it lets through."""
    norm: Number | None = None
    """Of a clip: the norm it measured, where that could be read."""


class StepOrder(Fact, frozen=True, kw_only=True):
    """The calls since the last update of this optimizer, up to this one."""

    ABOUT = "an optimizer"
    KEEP = 32

    optimizer: int
    """Its number, in the order in which they were built or first stepped."""
    kind: str
    number: int
    """Updates of this optimizer before this one."""
    calls: tuple[Call, ...]
    empty: bool = False
    """No parameter had a gradient other than 0 when the update began."""
    stale: tuple[str, ...] = ()
    """Parameters whose gradient the last update had already used and to which a backward has only added since."""
    stale_count: int = 0
    """How many such parameters there are."""
    grads: int = 0
    """Parameters with a gradient."""
    stale_frame: Frame | None = None
    """The first backward that found such gradients."""
    stale_iteration: int = 0
    repeated: int = 0
    """Parameters whose very same gradient the last update of this optimizer had already used, without a backward in
    between."""
    step_frame: Frame | None = None
    """The line that asked for this update, where gradients were stale or used again."""
    shared: int = 0
    """Parameters whose very same gradient another optimizer had already used."""
    held: int = 0
    """Parameters the optimizer holds."""
    frame: Frame | None = None
    """Where the user built the optimizer."""

    def key(self) -> object:
        """Identify the optimizer that the fact is about."""
        return self.optimizer

    def pattern(self) -> tuple[str, ...]:
        """The words of the calls alone, in order."""
        return tuple(call.word for call in self.calls)

    def backwards(self) -> list[Call]:
        """The backward calls that wrote gradients of this optimizer."""
        return [call for call in self.calls if call.word == "backward" and call.live]


class NoStep(Fact, frozen=True, kw_only=True):
    """Gradients are made for an optimizer that has never stepped, and no one else changes its parameters."""

    ABOUT = "an optimizer"
    KEEP = 8

    optimizer: int
    kind: str
    frame: Frame | None
    """Where the user built it."""
    backward_frame: Frame | None
    backwards: int
    """Backward calls so far that wrote its gradients."""
    zeroed: int
    """zero_grad calls that threw such gradients away."""

    def key(self) -> object:
        """Identify the optimizer that the fact is about."""
        return self.optimizer
