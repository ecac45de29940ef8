"""Where a value of a batch became bad before the model saw it: the user's line between the stored record and the batch.
No torch."""

from __future__ import annotations

from typing import Literal

import msgspec

from debugtracer.trace.birth import Frame, TensorFacts
from debugtracer.trace.number import Number

PipelineKind = Literal[
    "stored",
    "written",
    "spread",
    "norm",
    "division",
    "empty",
    "few",
    "log",
    "power",
    "domain",
    "exp",
    "half",
    "overflow",
    "uninitialised",
    "unknown",
    "range",
]
"""What the line did: `stored` nothing (the record holds it), `written` it writes NaN itself, `spread`, `norm` and
`division` divide by 0 (a standard deviation, a length, anything else), `empty` and `few` are statistics of no value or
of one, `half` leaves the range of float16, `range` gives a finite value far from what it gives for other records."""


class PipelineBirth(msgspec.Struct, frozen=True, kw_only=True):
    """One sample fetched again and followed line by line."""

    index: int
    """Dataset index of the sample; its position in the stream for an IterableDataset."""
    kind: PipelineKind
    frame: Frame | None = None
    """The user's line; of a stored value the line that takes it from the store."""
    way: tuple[Frame, ...] = ()
    """The lines from there to the batch, the birth's first."""
    expression: str = ""
    """The part of the line that made it: `np.log(power)`."""
    inputs: tuple[TensorFacts, ...] = ()
    """What the expression was given, by the names that the line uses."""
    output: TensorFacts | None = None
    record_clean: bool | None = None
    """Whether the stored record was free of it; None where that is not known."""
    divisor: str = ""
    """The expression that gave the divisor, where it stands on another line."""
    file: str = ""
    """The file that this sample was read from."""
    record: Frame | None = None
    """The only line of the tables that the program reads with a cell that is no finite number."""
    cell: str = ""
    """What is written there, under which title."""
    guard: str = ""
    """The line with a guard, with which the expression is finite for this sample; empty where none is derived."""
    neighbours: tuple[int, ...] = ()
    """Dataset indices of the records that it was compared with (`range`)."""
    value: Number | None = None
    """Largest magnitude after the line for this record (`range`)."""
    usual: Number | None = None
    """The largest for its neighbours (`range`)."""
    bad_samples: tuple[int, ...] = ()
    """Dataset indices of the samples of this batch that came out bad again, where its rows are in another order."""
    fetches: int = 1
    """Fetches until it came out bad: more than one where it depends on random numbers."""
    refused: str = ""
    """Why the sample was not followed; the rest says nothing then."""

    @property
    def kept_in_half(self) -> bool:
        """Whether a stored value is an infinity of float16: what was stored may have been a number."""
        told = self.output
        half = told is not None and told.dtype.rpartition(".")[2] == "float16"
        return self.kind == "stored" and told is not None and half and bool(told.posinf or told.neginf) and not told.nan
