"""What half precision did to a reduction or to a running total, beside the same in float32; measured on inspected
steps."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class HalfReduction(Fact, frozen=True, kw_only=True):
    """One call of a reduction over many elements whose result is float16 or bfloat16."""

    ABOUT = "half precision"

    op: str
    """Name of the function: sum, mean, logsumexp ..."""
    frame: Frame | None = None
    dtype: str
    elements: int
    """Elements that make one result."""
    value: Number
    """The result that is furthest off."""
    wide: Number
    """The same in float32."""
    error: float
    """Largest difference, as a share of the largest result in float32; over the results that are finite."""
    overflows: int = 0
    """Results that are infinite though they are finite in float32."""

    def key(self) -> object:
        """Identify the reduction by its op and its line."""
        return self.op, self.frame


class RunningTotal(Fact, frozen=True, kw_only=True):
    """`total = total + x` of single half-precision values, as often as it was called in one inspected step."""

    ABOUT = "half precision"

    frame: Frame | None = None
    dtype: str
    adds: int
    before: Number
    added: Number
    """The last value that was added."""
    after: Number
    wide: Number
    """`before` and all that was added, in float32."""
    graph: bool = False
    """The total hangs on a graph: a loss that is put together, not a figure for the reader."""

    def key(self) -> object:
        """Identify the line that the fact is about."""
        return self.frame
