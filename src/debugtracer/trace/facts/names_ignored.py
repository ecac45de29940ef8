"""Weights that a load left out because no name fits."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class NamesIgnored(Fact, frozen=True, kw_only=True):
    """A load_state_dict with strict=False that took little or nothing, and a training that went on with what it had."""

    ABOUT = "a loaded checkpoint"

    owner: str
    """Class of the module."""
    given: int
    """Tensors of the state; of the file where the program had left them out itself."""
    loaded: int
    """Tensors that were taken."""
    missing: int
    """Tensors of the module that got nothing and have the values they had."""
    healed: int = 0
    """Tensors that would fit by name and shape, were the prefix another one."""
    removed: str = ""
    """The prefix to take away from the names of the state."""
    added: str = ""
    """The prefix to put there instead."""
    given_name: str = ""
    """One of the names left out."""
    own_name: str = ""
    """One that got nothing."""
    filtered: bool = False
    """The program gave the module its own tensors back, or none: no name of the file was among its own."""
    frame: Frame | None = None
    """The line that loads."""
    kept: Frame | None = None
    """The line before it that keeps the names which fit, where the program has left the others out itself."""

    def key(self) -> object:
        """Identify the line and the module."""
        return self.frame, self.owner, self.given, self.loaded
