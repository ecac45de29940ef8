"""Channels, or columns, that an evaluation gives in another order than training."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class ChannelOrder(Fact, frozen=True, kw_only=True):
    """Told once for each model."""

    root: str
    pictures: bool
    """Channels of pictures; else columns of a table."""
    channels: int
    places: tuple[int, ...]
    """Those of the evaluation that differ from training."""
    alike: tuple[int, ...]
    """For each of them the one of training that it is like."""
    trained: tuple[Number, ...]
    """Mean of each of `places` in training."""
    evaluated: tuple[Number, ...]
    """The same in the evaluation."""
    apart: Number
    """Least distance of those means, in deviations of the samples."""
    left: Number
    """Largest distance that is left when the order is put right, in the same unit."""
    samples: tuple[int, int]
    """Of training and of the evaluation."""
    frame: Frame | None
    """The line that makes the input of the evaluation."""
    called: Frame | None
    """The line that calls the model with it."""
    loaded: bool = True
    """The evaluation has a loader of its own; else it is the program that changes what it gives."""

    def key(self) -> object:
        """Identify the model and its channels."""
        return self.root, self.places
