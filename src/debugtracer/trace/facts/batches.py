"""What one training batch was made of, so that ranks can be compared after the run."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class BatchSeen(Fact, frozen=True, kw_only=True):
    """The batch before a backward, of the first steps and of each inspected one."""

    ABOUT = "a DataLoader"
    KEEP = 64

    loader: int | None
    """Its loader; None when the loop makes its batches itself and the arguments of the model were looked at."""
    frame: Frame | None
    """Where the loader was built, or where the model was called."""
    sampler: str
    shards: bool
    length: int | None
    """Samples of the dataset."""
    rows: int | None
    indices: tuple[int, ...]
    """Dataset indices of the first rows; empty when they are not known."""
    digests: tuple[int, ...]
    """Digest of the values of each leaf on the CPU."""
    labels: tuple[tuple[int, int], ...] = ()
    """Value and count of the integer target, if there is one with few values."""
    sampler_frame: Frame | None = None
    """The line that built a sampler which gives each rank a part of the data."""
    width: int | None = None
    """Second dimension of the widest leaf: the length sequences are padded to."""

    def key(self) -> object:
        """Identify the batch: each one is new."""
        return self.ref.iteration
