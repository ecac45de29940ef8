"""The scores of all rows of a batch with one another, that a loss normalises with those of each row with itself."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class OwnScores(Fact, frozen=True, kw_only=True):
    """Seen in one inspected step."""

    function: str
    """What normalises them: cross_entropy, log_softmax, logsumexp or exp."""
    wanted: bool = False
    """The target of each row is the row itself."""
    rows: int
    share: Number
    """The mean part that the score with itself has of the sum of exponentials of its row."""
    frame: Frame | None
    """The line that normalises."""
    scores_frame: Frame | None
    """The line that multiplies the rows."""
    target_frame: Frame | None = None
    """The line that made the targets."""

    def key(self) -> object:
        """Identify the line and the look: the check counts them."""
        return self.frame, self.ref.step
