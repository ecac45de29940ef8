"""The model of one rank beside those of the others: what must be equal on all of them."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class Replica(Fact, frozen=True, kw_only=True):
    """The copy that one rank holds under DistributedDataParallel, at the gate of an inspected step and of every
    50th."""

    ABOUT = "several ranks"
    KEEP = 64

    wrapper: str
    """DistributedDataParallel, FullyShardedDataParallel."""
    frame: Frame | None
    """Where it was wrapped."""
    group: tuple[int, ...]
    """Ranks that hold a copy of the same parameters."""
    hooked: bool
    """A communication hook changes what is exchanged."""
    bypassed: Frame | None
    """A line that called the module inside the wrapper, or a method of it, with gradients, in an iteration in which the
    wrapper was not called."""
    loaded: Frame | None = None
    """The last line that loaded weights into it after it was wrapped."""
    replaced: int = 0
    """Trainable parameters that are not those which the wrapper hooked."""
    optimizer: str
    built: Frame | None
    """Where the optimizer was built."""
    lr: float | None
    names: tuple[str, ...]
    """Trainable parameters an optimizer holds, as the checksums come."""
    before: tuple[int, ...]
    """Checksum of the bits of each parameter before the update."""
    grads: tuple[int, ...]
    """Checksum of the bits of each gradient at the gate; 0 for none."""
    grad_l2: float
    param_l2: float
    bad: bool
    """The gradient is not finite."""

    def key(self) -> object:
        """Identify the step: each one is new."""
        return self.ref.step
