"""What a sampler weighs the samples of a dataset with, beside the labels that were drawn by it."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class DrawWeights(Fact, frozen=True, kw_only=True):
    """One WeightedRandomSampler; the first batches are counted."""

    KEEP = 16

    loader: int
    """Number of the loader."""
    weights: tuple[float, ...]
    """The different weights."""
    sizes: tuple[int, ...]
    """Samples that have each of them."""
    dataset: str
    labels: tuple[int, ...] = ()
    """Those that were drawn."""
    drawn: tuple[tuple[int, ...], ...] = ()
    """For each weight how often each label was drawn with it."""
    frame: Frame | None = None
    """The line that builds the sampler, or the loader."""
    made: tuple[Frame, ...] = ()
    """The lines that wrote the weights, the one that made them first."""

    def key(self) -> object:
        """Tell a loader once."""
        return self.loader
