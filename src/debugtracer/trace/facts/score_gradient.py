"""Which way an update pushes the scores that one network gives to what another one made."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class ScoreGradient(Fact, frozen=True, kw_only=True):
    """One update of a network that judges what another one makes, or of that other one."""

    ABOUT = "two optimizers"
    KEEP = 32

    critic: int
    """The optimizer of the network that gives the scores."""
    generator: int
    """The optimizer of the network that makes what is judged."""
    by_critic: bool
    """Whose update it was: the critic's, or the generator's."""
    number: int
    """Such updates seen before it."""
    generated_raised: float
    """Share of the gradients at the scores of what was made that raise them; of those that are not 0."""
    real_raised: float | None = None
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
        return self.critic, self.generator
