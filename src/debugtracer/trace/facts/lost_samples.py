"""Samples of a batch that a tensor of it does not depend on."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class LostSamples(Fact, frozen=True, kw_only=True):
    """Seen once for a dataset; the collate function was run again with one sample exchanged at a time."""

    loader: int
    """Its number, from 0."""
    paths: tuple[str, ...]
    """Tensors that the first sample changes and none of the others that were exchanged."""
    whole: tuple[str, ...] = ()
    """Tensors that every sample changes."""
    shape: tuple[int, ...]
    """Of the first of these tensors."""
    samples: int
    """In the batch."""
    tried: int
    """Samples beside the first that were exchanged."""
    frame: Frame | None
    """Where the first of these tensors is written."""
    loader_frame: Frame | None = None

    def key(self) -> object:
        """Identify the loader and the tensors."""
        return self.loader, self.paths
