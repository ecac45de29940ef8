"""Which way an update pushes the scores that one network gives to what another one made."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class ScorePush(Fact, frozen=True, kw_only=True):
    """One update of a network that judges what another one makes, or of that other one."""

    ABOUT = "two optimizers"
    KEEP = 32

    judge: int
    """The optimizer of the network that gives the scores."""
    maker: int
    """The optimizer of the network that makes what is judged."""
    by_judge: bool
    """Whose update it was: the judge's, or the maker's."""
    number: int
    """Such updates seen before it."""
    made_up: float
    """Share of the gradients at the scores of what was made that raise them; of those that are not 0."""
    given_up: float | None = None
    """The same for what was not made, in the same backward; None without such a call."""
    kind: str = ""
    built: Frame | None = None
    """The optimizer that updates."""
    called: Frame | None = None
    """The line that asks for the scores of what was made."""
    backward: Frame | None = None
    """The line of the backward."""

    def key(self) -> object:
        """Identify the two optimizers."""
        return self.judge, self.maker
