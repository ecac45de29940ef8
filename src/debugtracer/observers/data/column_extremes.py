"""The numbers that stand far outside of all others in a column, batch after batch, and whether they are the same."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor

from debugtracer.observers.data.tensor_summary import ranges

BEYOND = 10.0  # ranges of all others that it lies away from them (docs/rationale/checks.md#data_range_extreme)
COLUMNS = 256  # of a tensor at most (ours)
MOST = 32  # numbers followed of a tensor, and new ones of a batch (ours)
CLOSE_LOOKS = 8  # rows of a batch whose places are looked at (ours)
VARIED, PLAIN = 8, 0.5  # different values of the others at least, share of one of them at most: measured ones (ours)
SAMPLES = 4096  # dataset indices kept of one (ours)


@dataclass
class Repeated:
    """One number of one column."""

    value: float
    column: int | None
    batches: int = 0
    rows: int = 0
    told: int = 0
    """Looks when it was emitted last."""
    samples: set[int] = field(default_factory=set)
    places: int = 0
    """Most places of one row, or rows of one batch where each row has one place."""
    inside: bool = False
    """It stands between others of a row."""
    padded: bool = False
    """It fills an end of a row."""
    handled: bool = False
    """A mask of the batch shows its places."""
    steps: list[int] = field(default_factory=list)
    """Steps whose batches held it."""


class ColumnExtremes:
    """What is known of one tensor of a loader's batches: the range of each column without such numbers, and those."""

    def __init__(self) -> None:
        self.low: Tensor | None = None
        self.high: Tensor | None = None
        self.rows = self.looks = 0
        self.found: dict[tuple[int, float], Repeated] = {}

    def look(self, values: Tensor) -> Iterator[tuple[Repeated, list[int]]]:
        """Learn a batch; yield the numbers that stand apart in it, with their rows."""
        dim, lows, highs = ranges(values)
        if lows.dim() == 1:
            lows, highs = lows[:, None], highs[:, None]
        if lows.shape[1] > COLUMNS or not bool(torch.isfinite(lows).all() and torch.isfinite(highs).all()):
            return
        if self.low is None or self.high is None or len(self.low) != lows.shape[1]:
            self.__init__()  # type: ignore[misc]
            self.low, self.high = torch.full_like(lows[0], math.inf), torch.full_like(lows[0], -math.inf)
        self.rows, self.looks = self.rows + len(lows), self.looks + 1
        below, rest_low = apart(lows, highs.amax(0), self.low)
        above, rest_high = apart(-highs, -lows.amin(0), -self.high)
        self.low, self.high = torch.minimum(self.low, rest_low), torch.maximum(self.high, -rest_high)
        for far, side in ((below, lows), (above, highs)):
            for column in far.nonzero().view(-1).tolist()[:MOST] if bool(far.any()) else ():
                yield from self.note(values, dim, column, side[:, column], far is below)

    def note(
        self, values: Tensor, dim: int | None, column: int, ends: Tensor, below: bool
    ) -> Iterator[tuple[Repeated, list[int]]]:
        """Count one number of a batch."""
        value = float(ends.min() if below else ends.max())
        key = column, value
        if (key not in self.found and len(self.found) >= MOST) or not is_varied(values, dim, column, value):
            return
        one = self.found.setdefault(key, Repeated(value, None if dim is None else column))
        rows = (ends == value).nonzero().view(-1).tolist()
        one.batches, one.rows = one.batches + 1, one.rows + len(rows)
        look_at_places(one, values, dim, column, rows)
        yield one, rows

    def range_of(self, one: Repeated) -> tuple[float, float]:
        """The least and most of the others in its column."""
        if self.low is None or self.high is None:
            return math.inf, -math.inf
        return float(self.low[one.column or 0]), float(self.high[one.column or 0])

    def is_far(self, one: Repeated) -> bool:
        """Whether it still lies outside of all that was seen since."""
        low, high = self.range_of(one)
        return max(low - one.value, one.value - high) > BEYOND * (high - low) > 0


def apart(lows: Tensor, top: Tensor, known: Tensor) -> tuple[Tensor, Tensor]:
    """The columns whose least value is far below all others, and the least of those others; what is `known` where all
    rows have that value."""
    least = lows.amin(0)
    rest = torch.where(lows == least, math.inf, lows).amin(0)
    far = torch.isfinite(rest) & (rest - least > BEYOND * (top - rest)) & (top > rest)
    return far, torch.where(torch.isfinite(rest), torch.where(far, rest, least), known)


def column_of(values: Tensor, dim: int | None, column: int) -> Tensor:
    """The numbers of one column, a row first."""
    return values if dim is None else values.select(dim, column)


def is_varied(values: Tensor, dim: int | None, column: int, value: float) -> bool:
    """Whether the others are measured numbers: many different ones."""
    others = column_of(values, dim, column).reshape(-1)[: 64 * VARIED]
    others = others[others != value]
    if len(others) < VARIED:
        return False
    kinds, counts = others.unique(return_counts=True)
    return len(kinds) >= VARIED and float(counts.max()) <= PLAIN * len(others)


def look_at_places(one: Repeated, values: Tensor, dim: int | None, column: int, rows: list[int]) -> None:
    """Note where it stands in a few rows: between others, or up to an end as padding does."""
    if values.dim() < 2:
        one.places, one.inside = max(one.places, len(rows)), True
        return
    some = values[rows[:CLOSE_LOOKS]]
    there = (some if values.dim() == 2 else column_of(some, dim, column)) == one.value
    flat = there.reshape(len(there), -1).int()
    starts = flat.cumprod(1).sum(1)
    ends = flat.flip(1).cumprod(1).sum(1)
    count = flat.sum(1)
    at_end = torch.maximum(starts, ends) == count
    if values.dim() == 2:  # a table, or sequences of numbers
        one.padded |= bool((at_end & (count > 1)).any())
        one.inside, one.places = True, max(one.places, len(rows))
    else:
        one.inside |= bool((~at_end).any())
        one.places = max(one.places, int(torch.where(at_end, 0, count).max()))
