"""Rows of four numbers: is one pair of columns always in order while the other is so in a part of them alone?"""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.errors import guarded
from debugtracer.observers.data.digest import readable

FEWEST = 100  # rows (ours)
WHOLE = 32  # rows of another loader that are all in order (ours)
MOST = 4096  # rows that are kept of one tensor (ours)
A_SAMPLE = 256  # rows of a tensor that a dataset works on (ours)
LEAST_BROKEN, MOST_BROKEN = 0.05, 0.95  # share of the rows (ours)
NEARLY, FEW = 0.1, 0.03
"""Boxes are seldom so thin: a share FEW at most is nearer than NEARLY medians. A difference of two numbers that are in
no order lies about zero as often as elsewhere, 5 % of them there (ours)."""
ALIKE = 1.5  # times that the sizes in order and broken may differ (ours: mirrored boxes have the same)
KEPT = 16  # tensors of a sample that are remembered (ours)
PLACE = re.compile(r"\[\d+\]")


class BoxRows:
    """What was seen of one tensor of a loader: the distances of columns 0 to 2 and 1 to 3."""

    def __init__(self) -> None:
        self.parts: list[Tensor] = []
        self.rows = 0
        self.asked = self.told = False
        """The dataset was asked; it was emitted."""

    def add(self, leaf: Tensor) -> None:
        """Take the rows of a batch that have an extent: padding has none."""
        found = extents(leaf)
        self.parts.append(found)
        self.rows += len(found)

    def extents(self) -> Tensor:
        """The distances of all rows."""
        if len(self.parts) > 1:
            self.parts = [torch.cat(self.parts)]
        return self.parts[0]

    def is_whole(self) -> bool:
        """Whether all rows are in order in both pairs."""
        return self.rows >= WHOLE and bool((self.extents() >= 0).all())

    def broken(self) -> int | None:
        """The pair that has lost its order in a part of the rows, as corners that were mirrored have; None where they
        do not look so."""
        if self.rows < FEWEST:
            return None
        apart = self.extents()
        wrong = (apart < 0).double().mean(0).tolist()
        pair = next((p for p in (0, 1) if wrong[1 - p] == 0 and LEAST_BROKEN <= wrong[p] <= MOST_BROKEN), None)
        if pair is None:
            return None
        one, size = apart[:, pair], self.sizes(pair)
        thin = (one.abs() < NEARLY * one.abs().median()).double().mean()
        alike = max(size) <= ALIKE * min(size)
        return pair if alike and float(thin) <= FEW else None

    def sizes(self, pair: int) -> tuple[float, float]:
        """The median distance of the rows in order and of those that are not."""
        one = self.extents()[:, pair]
        return float(one[one >= 0].median()), float(one[one < 0].abs().median())


def is_fours(leaf: Any, dims: tuple[int, ...]) -> bool:
    """Whether this is a tensor of rows of four numbers; bytes are colours."""
    if not isinstance(leaf, Tensor) or leaf.dim() not in dims or leaf.shape[-1] != 4 or not readable(leaf):
        return False
    return leaf.is_floating_point() or leaf.dtype in (torch.int32, torch.int64)


def extents(leaf: Tensor) -> Tensor:
    """The distances of columns 0 to 2 and 1 to 3 of the rows of a tensor that have any."""
    rows = leaf.detach().reshape(-1, 4)
    apart = rows[:, 2:].double() - rows[:, :2].double()
    return apart[(apart != 0).any(1) & apart.isfinite().all(1)]


def alike_path(path: str) -> str:
    """A path without the place of a sample in a list: `batch[1][3]['boxes']` is `batch[1][*]['boxes']`."""
    first = PLACE.search(path)
    end = first.end() if first is not None else 0
    return path[:end] + PLACE.sub("[*]", path[end:])


class OrderWatch(TorchFunctionMode):
    """Finds the line of a dataset after which a tensor of rows in order is in order no more; changes nothing."""

    def __init__(self, pair: int) -> None:
        super().__init__()
        self.pair = pair
        self.kept: list[Tensor] = []
        self.raw: RawFrames = ()
        self.closed = False
        """The order was lost, by a line or where nobody sees it (numpy)."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function; look at what it was given and what it gives."""
        self.note(args[:1], False)
        output = function(*args, **(kwargs or {}))
        self.note((output, *args[:1]), True)
        return output

    @guarded("box_rows.note")
    def note(self, given: tuple[Any, ...], after: bool) -> None:
        """Remember rows in order; the line where the same rows have lost it, the other pair being the same."""
        for one in given:
            if self.closed or not is_fours(one, (1, 2)) or not 4 <= one.numel() <= 4 * A_SAMPLE:
                continue
            apart = extents(one)
            if not len(apart) or bool((apart[:, 1 - self.pair] < 0).any()):
                continue
            if bool((apart[:, self.pair] >= 0).all()):
                if len(self.kept) < KEPT:
                    self.kept.append(one.detach().clone())
            elif any(self.same_but(before, one) for before in self.kept):
                self.closed, self.raw = True, raw_frames(2) if after else ()

    def same_but(self, before: Tensor, now: Tensor) -> bool:
        """Whether two differ in the pair that is asked for, and not in the other."""
        if before.shape != now.shape:
            return False
        other = [1 - self.pair, 3 - self.pair]
        return torch.equal(before[..., other], now.detach()[..., other])
