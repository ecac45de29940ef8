"""What a CTC loss was given as lengths of its inputs."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class CtcCall(Fact, frozen=True, kw_only=True):
    """One call of ctc_loss in an inspected step."""

    KEEP = 32

    number: int
    """How many calls were emitted before it in the run."""
    rows: int
    impossible: int
    """Rows whose input is shorter than their target and the repeats in it: no alignment exists."""
    frames: int
    """Frames of the log-probabilities."""
    longest: int
    """The greatest input length of the batch."""
    zero_infinity: bool
    """The loss of such rows counts 0."""
    blank: int = 0
    """The id that means no label."""
    blanks: int = 0
    """Rows with a target that is this id."""
    frame: Frame | None
    """The line that calls the loss."""
    made: Frame | None = None
    """The line that computed the input lengths."""

    def key(self) -> object:
        """Identify the call: the check counts them."""
        return self.frame, self.number
