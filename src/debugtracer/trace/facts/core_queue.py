"""How long the training thread stood in the queue for a core."""

from __future__ import annotations

from debugtracer.trace.facts.fact import Fact


class CoreQueue(Fact, frozen=True, kw_only=True):
    """The time since the fact before, of which the thread could have run and had no core."""

    ABOUT = "an optimizer"
    KEEP = 16

    wall_s: float
    """Seconds that have passed."""
    queued_s: float
    """Seconds of them in which other threads or programs had all the cores."""

    def key(self) -> object:
        """Identify the step: each sample is new."""
        return self.ref.step
