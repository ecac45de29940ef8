"""Pictures that come mirrored in a later pass while what is said of their places does not change."""

from __future__ import annotations

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
    """`mask`: as high and wide as the picture; `box`: left, top, right, bottom."""
    how: str
    """How the pictures were turned, most often."""
    samples: tuple[int, ...]
    """Dataset indices that came mirrored."""
    compared: int
    """Samples that were seen twice."""
    frame: Frame | None
    """Where the pictures were written last."""
    target_frame: Frame | None = None
    """Where the target was made."""
    loader_frame: Frame | None = None

    def key(self) -> object:
        """Identify the loader and the pair of tensors."""
        return self.loader, self.path, self.target
