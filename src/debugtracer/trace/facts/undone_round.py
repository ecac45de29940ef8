"""A run of updates between two loads of the same weights: what it has learnt is written over."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class UndoneRound(Fact, frozen=True, kw_only=True):
    """The updates of a module between two calls of its load_state_dict."""

    ABOUT = "a module"
    KEEP = 16

    module: int
    """Its number among those that are loaded."""
    name: str
    """Its class."""
    kind: str = ""
    """The optimizer that trains it."""
    built: Frame | None = None
    number: int = 0
    """Rounds of this module before this one."""
    updates: int = 0
    moved: bool = False
    """They changed the weights."""
    back: bool = False
    """The second load gave the weights, bit for bit, the values of the first."""
    used: bool = False
    """After the last update something ran or was read: a forward, a backward, a state_dict; the weights served."""
    outer: bool = False
    """Another optimizer trains the weights that are loaded: one inner loop of several."""
    params: int = 0
    """Weights that are trained and were compared."""
    loads: Frame | None = None
    """The line of the load."""

    def key(self) -> object:
        """Identify the module that the fact is about."""
        return self.module
