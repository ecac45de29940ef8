"""The stored data that a program without a DataLoader takes the rows of its batches from."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.batch_content import BatchOddity
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number

ABOUT = "rows of stored data"


class FarValue(msgspec.Struct, frozen=True, kw_only=True):
    """One number that lies more than ten times the range of all others away from them."""

    value: Number
    rows: tuple[int, ...]
    """Rows that hold it, or a number as far; the first ones."""
    count: int
    column: int | None
    """None: of all columns together."""
    low: Number
    high: Number
    """The range of all others."""


class StoppedColumn(msgspec.Struct, frozen=True, kw_only=True):
    """A column that varies among the rows before, and holds one value from a row on to the end."""

    column: int
    row: int
    value: Number


class StoredLeaf(msgspec.Struct, frozen=True, kw_only=True):
    """One array with a row for each sample."""

    path: str
    """`input` or `target`, with its place where there are several."""
    name: str
    """What the program calls it."""
    whole: bool
    """It holds integers."""
    mean: Number = 0.0
    std: Number = 0.0
    low: Number = 0.0
    high: Number = 0.0
    far: tuple[FarValue, ...] = ()
    stopped: tuple[StoppedColumn, ...] = ()
    classes: int = 0
    """Targets of a loss over classes: different values."""
    pooled: Number = 0.0
    """The entropy of all labels, nats."""
    entropy: Number = 0.0
    """The median entropy within as many rows, one after the other, as a batch has."""
    skewed: Number = 0.0
    """The share of such parts whose entropy is below 0.3 of the pooled one."""
    made: tuple[Frame, ...] = ()
    """The lines that wrote it, the one that made it first."""


class StoredRows(Fact, frozen=True, kw_only=True):
    """Seen in inspected steps of training: what the model was given are rows of arrays that stay as they are. Emitted
    at the second such step, and anew with what later ones add."""

    ABOUT = ABOUT
    KEEP = 16

    length: int
    """Rows of the data."""
    rows: int
    """Rows of a batch."""
    looks: int
    """Steps that were looked at."""
    in_order: bool
    """In each of them the rows lay one after the other."""
    same: bool
    """In each of them they were the very same rows, cut anew."""
    begins: int = 0
    """The first row of this step."""
    period: int = 0
    """Batches of a pass over the data, where the looks are one pass after the other in order; 0 where they are not."""
    first_layer: str = ""
    """Type of the first layer with parameters of the model that is given the rows."""
    frame: Frame | None = None
    """The line that takes the rows of a batch; that of the call of the model where it is not known."""
    call: Frame | None = None
    """The line that calls the model."""
    leaves: tuple[StoredLeaf, ...] = ()

    def key(self) -> object:
        """Identify the data by their names."""
        return tuple((leaf.path, leaf.name) for leaf in self.leaves)

    def parts(self) -> int:
        """How many batches the data are cut into."""
        return self.length // max(self.rows, 1)

    def rows_at(self, step: int) -> range:
        """The rows of another step, where the passes are in order; none elsewhere."""
        if not self.period:
            return range(0)
        number = (self.begins // self.rows + step - self.ref.step) % self.period
        return range(number * self.rows, min((number + 1) * self.rows, self.length))

    def far_at(self, step: int) -> tuple[StoredLeaf, FarValue, tuple[int, ...]] | None:
        """What is far from all others in the rows of a step: the array, the value and its rows."""
        rows = self.rows_at(step)
        for leaf in self.leaves:
            for far in leaf.far:
                held = tuple(row for row in far.rows if row in rows)
                if held:
                    return leaf, far, held
        return None


class StoredOddity(BatchOddity, frozen=True, kw_only=True):
    """The rows of stored data that a step with an outlying loss was given hold a number far from all others."""

    ABOUT = ABOUT
