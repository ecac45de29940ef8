"""One number in every row of a batch, which the program has set: no row is at fault."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.file_line import file_line
from debugtracer.trace.number import Number


class BatchSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A tensor of the batch, or one column of it, that holds one number in all rows of the data set."""

    name: str
    """The tensor: `batch['rays']`."""
    column: int | None = None
    """Which of its columns; None for all of it."""
    value: Number
    rows: int
    """Rows of the batch."""
    stored: str = ""
    """The array that the rows are taken from, all of which hold the number: `Rays.all_rays`; empty where none was
    found."""
    stored_rows: int = 0
    written: Frame | None = None
    """The line that wrote the number into the rows."""
    frame: Frame | None = None
    """The line where the number itself is set."""

    @property
    def where(self) -> str:
        """What holds the number: `column 6 of batch['rays']`."""
        return self.name if self.column is None else f"column {self.column} of {self.name}"

    @property
    def because(self) -> str:
        """Say what the number is, that it is in all rows, and which lines wrote and set it: one clause."""
        held = f"{self.stored_rows} rows of {self.stored}" if self.stored else f"{self.rows} rows of the batch"
        lines = [
            f"{word} at {file_line(line)}"
            for word, line in (("written", self.written), ("set", self.frame))
            if line is not None
        ]
        if self.written == self.frame and self.frame is not None:
            lines = lines[1:]
        said = f" ({', '.join(lines)})" if lines else ""
        return f"{self.where} is {float(self.value):g} in all {held}: a setting, not a bad row{said}"
