"""The parameters of one rank beside those of the others, where no wrapper says which of them are copies."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class RankWeights(Fact, frozen=True, kw_only=True):
    """What one optimizer is about to write, before an update of an inspected step and of every 50th."""

    ABOUT = "several ranks"
    KEEP = 64

    optimizer: str
    built: Frame | None
    """Where it was built."""
    called: Frame | None = None
    """The line that calls its step()."""
    model: Frame | None = None
    """The line that built the model it was given the parameters of; of the first look alone."""
    number: int
    """Which of the optimizers that step, from 0."""
    names: tuple[str, ...]
    """Paths of the parameters, else their places in the optimizer."""
    before: tuple[int, ...]
    """Checksum of the bits of each parameter."""
    grads_l2: tuple[float, ...] = ()
    """L2 norm of each gradient as the optimizer gets it; -1 for none, and where it is not finite."""

    collectives: int = -1
    """Collectives that this process has called so far, over all its groups; -1 where that cannot be read."""
    calls: int = 0
    """Those of them whose sizes are known."""
    elements: int = 0
    """Elements that they exchanged."""
    held: int = 0
    """Elements of the parameters."""
    unreached: Frame | None = None
    """The only line of the program that exchanges tensors and was not reached so far; of a look after the first ones,
    where fewer elements were exchanged than are held."""

    def key(self) -> object:
        """Identify the optimizer and the step: each one is new."""
        return self.number, self.ref.step
