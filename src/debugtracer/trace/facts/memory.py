"""How much memory the process holds."""

from __future__ import annotations

from debugtracer.trace.facts.fact import Fact


class Memory(Fact, frozen=True, kw_only=True):
    """Taken after the update of every tenth step, later of every hundredth."""

    ABOUT = "an optimizer"
    KEEP = 64

    resident: int
    """Bytes of the process in host memory; 0 where the system does not say."""
    allocated: int | None
    """Bytes of tensors on the accelerator; None without one."""
    reserved: int | None
    """Bytes the allocator holds there."""
    total: int | None
    """Bytes of the accelerator."""
    kept: int = 0
    """Bytes of batches and snapshots that we keep for replays, where the model is."""

    def key(self) -> object:
        """Identify the step: each sample is new."""
        return self.ref.step
