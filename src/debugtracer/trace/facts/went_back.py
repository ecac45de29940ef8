"""The state of training was put back to that of an earlier step: by a response of ours, not by the program."""

from __future__ import annotations

from debugtracer.trace.facts.fact import Fact


class WentBack(Fact, frozen=True, kw_only=True):
    """Seen once for each roll-back, at the step whose update was due."""

    ABOUT = "a roll-back"

    to_step: int
    """The step whose state is in place now."""

    def key(self) -> object:
        """Identify the roll-back: each is one of its own."""
        return self.ref.iteration, self.ref.step
