"""One number that has set the scale of all data."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class ScaleSetter(Fact, frozen=True, kw_only=True):
    """Emitted once for a dataset, when its first batch is fetched."""

    KEEP: ClassVar[int] = 4

    name: str
    """What the dataset calls the array: `TensorDataset.tensors[0]`."""
    row: int
    """Of the series that the windows are cut from, or of the table."""
    column: int | None
    low: Number
    high: Number
    """The range of all others, where this one is 1."""
    samples: tuple[int, ...] = ()
    """Those that show it, the first ones."""
    count: int = 0
    """How many they are."""
    record: Frame | None = None
    """The line of the text file that it was read from."""
    cell: str = ""
    """What is written there: `los_7 is 65535`."""
    scaled: Frame | None = None
    """The line that divides by the maximum."""
    frame: Frame | None = None
    """Where the loader was built."""
