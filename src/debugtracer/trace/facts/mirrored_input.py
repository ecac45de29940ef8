"""Pictures that come mirrored in a later pass while what is said of their places is not, or by a draw of its own."""

from __future__ import annotations

from typing import Literal

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class MirroredInput(Fact, frozen=True, kw_only=True):
    """Seen once for a loader and a target; the same dataset indices were delivered twice."""

    loader: int
    """Its number, from 0."""
    path: str
    """Of the pictures in the batch."""
    target: str
    """Path of what was equal bit for bit."""
    what: str
    """`mask`: as high and wide as the picture; `box`: left, top, right, bottom; `points`: places in it."""
    how: str
    """How the pictures were turned, most often; empty where the target alone was."""
    samples: tuple[int, ...]
    """Dataset indices whose picture and target were turned differently."""
    compared: int
    """Samples that were seen twice."""
    frame: Frame | None
    """Where the pictures were turned alone, else where they were written last."""
    target_frame: Frame | None = None
    """Where the target was turned alone, else where it was made."""
    target_how: str = ""
    """How the target was turned, most often; empty where it always came as it was."""
    first: tuple[str, str] = ("", "")
    """How the picture and the target of the first of the samples were turned."""
    loader_frame: Frame | None = None
    cut: bool = False
    """Each delivery cuts another part of both out: what is equal is the middle, at another place."""
    only: Literal["", "picture", "target"] = ""
    """The one of both that a line turns where the other is left as it is: `frame` or `target_frame`."""

    def key(self) -> object:
        """Identify the loader and the pair of tensors."""
        return self.loader, self.path, self.target
