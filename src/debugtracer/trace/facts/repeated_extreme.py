"""One number that comes again and again in a column of a loader's batches, far outside of all others."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.batch_content import LoaderNote
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class RepeatedExtreme(Fact, frozen=True, kw_only=True):
    """What was counted up to a batch."""

    ABOUT = "a DataLoader"
    KEEP = 32

    loader: LoaderNote
    path: str
    column: int | None
    """None: the tensor has one number a row."""
    value: Number
    low: Number
    high: Number
    """The range of all others in the column."""
    rows: int
    """Rows that hold it, of those looked at."""
    of: int
    batches: int
    """Batches that hold it."""
    looked: int
    """Batches that were looked at."""
    again: bool
    """It stands there more than once: no single element that many windows show."""
    handled: bool
    """The program compares with it, or the batch has a mask of its places."""
    samples: tuple[int, ...] = ()
    steps: tuple[int, ...] = ()
    """The last steps in which a training batch held it."""
    stored: str = ""
    """The array of the dataset in which it stands once, where it is one element that many windows show: `Plant.x`."""
    row: int | None = None
    """Its row there."""
    record: Frame | None = None
    """The line of the text file that this row was read from."""
    cell: str = ""
    """What is written there: `temp is -999.0`."""
    made: tuple[Frame, ...] = ()

    def key(self) -> object:
        """Tell a number of a column anew as it comes."""
        return self.loader.number, self.path, self.column, self.value, self.looked
