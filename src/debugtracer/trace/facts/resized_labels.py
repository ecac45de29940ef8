"""Targets that were resized as if their class ids were quantities."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class ResizedLabels(Fact, frozen=True, kw_only=True):
    """Seen once at a line that resizes; its result is the target of a loss over classes."""

    KEEP = 16

    function: str
    """interpolate; Image.resize of PIL."""
    mode: str
    pixels: int
    """Of the maps that were resized."""
    stray: int
    """Of them, those with an id that stands nowhere near them in the map it was made of."""
    ids: tuple[int, ...]
    """Such ids, a few."""
    samples: tuple[int, ...] = ()
    """Dataset indices of the maps, where a dataset resizes them."""
    loss: str = ""
    frame: Frame | None = None
    loss_frame: Frame | None = None

    def key(self) -> object:
        """Identify the line that resizes."""
        return self.frame
