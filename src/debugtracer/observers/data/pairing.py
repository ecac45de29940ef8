"""Can the targets be told from the inputs as they are paired, and better when one side is put into another order?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

Order = Literal["reversed", "by-text", "from-text", "grid", "by-column", "moved", "targets-sorted", "inputs-sorted"]

ROWS = 768  # of a probe (ours: a system of equations of that size is solved in 20 ms)
QUICK = 256  # of a first probe, which nearly always tells enough (ours)
DRAWS = 64  # pairings by chance that a pairing is compared with (ours)
RIDGE = 0.3  # of the kernel's diagonal (ours)
UNRELATED = 4.0  # standard deviations above chance, below which the present pairing tells nothing (ours)
RESTORED = 8.0  # the same of a pairing that restores the relation (ours: thousands of shifts are tried)
LEAST_GAIN = 0.15  # share of the targets' variance that it explains more, in each half of the rows (ours)
ENDS = 32  # rows of the probe at each end: of targets that moved, those that come round (ours)
MOST_GROUPS = 0.25  # distinct values of a coordinate of a grid, as a share of the rows (ours)
COLUMNS = 64  # columns that may be a key (ours)


class Restored(NamedTuple):
    """A pairing under which the targets can be told from the inputs."""

    order: Order
    gain: float
    """Share of the variance of the targets that it explains, of rows that were left out."""
    present: float
    by: int = 0
    """moved: how many rows further on the target stands; grid: its first size; by-column: which one."""
    wrapped: int = 0
    """moved: rows of the probe whose targets come round from the other end, and are explained as well."""


class Probe:
    """Kernel ridge regression over some rows of the inputs; each target is told from all other rows."""

    def __init__(self, inputs: Tensor) -> None:
        x = inputs.double()
        x = x - x.mean(0)
        spread = x.std(0)
        x = x[:, spread > 0] / spread[spread > 0]
        width = max(1, x.shape[1])
        near = x @ x.T  # distances from it: they take another product of that size otherwise
        own = near.diagonal()
        far = (own[:, None] + own - 2 * near).clamp_min(0.0)
        usual = far.flatten()[:: max(1, far.numel() // 4096)].median().clamp_min(1e-9)
        kernel = near / width + torch.exp(-far / usual) + torch.exp(-8 * far / usual)
        kernel += RIDGE * kernel.diagonal().mean() * torch.eye(len(x), dtype=x.dtype, device=x.device)
        self.inverse = torch.linalg.inv(kernel)
        self.own = self.inverse.diagonal()

    def explained(self, targets: Tensor) -> Tensor:
        """The share of the variance that is explained, for targets of rows x columns x pairings."""
        return self.shares(targets, slice(None))

    def shares(self, targets: Tensor, rows: slice | Tensor) -> Tensor:
        """The same, counted over some rows alone."""
        y = targets - targets.mean(0)
        flat = y.reshape(len(y), -1)
        missed = (self.inverse @ flat) / self.own[:, None]
        left = missed.reshape(y.shape)[rows].square().sum(0)
        explained: Tensor = 1 - left / y[rows].square().sum(0).clamp_min(1e-12)
        return explained.mean(0)


def above_chance(probe: Probe, targets: Tensor, generator: torch.Generator) -> tuple[float, float]:
    """What the present pairing explains, and by how many standard deviations it is beyond pairings by chance."""
    drawn = [torch.randperm(len(targets), generator=generator) for _ in range(DRAWS)]
    chance = probe.explained(torch.stack([targets[one] for one in drawn], -1))
    share = float(probe.explained(targets[..., None])[0])
    return share, (share - float(chance.mean())) / max(float(chance.std()), 1e-6)


def tells_nothing(inputs: Tensor, targets: Tensor) -> bool:
    """Whether some rows of the inputs, drawn at random, tell no more of their targets than chance does."""
    with torch.device("cpu"):
        some = torch.randperm(len(inputs), generator=torch.Generator().manual_seed(0))[:ROWS]
        return above_chance(Probe(inputs[some]), targets[some], torch.Generator().manual_seed(0))[1] < UNRELATED


def restored(inputs: Tensor, targets: Tensor, generator: torch.Generator) -> Restored | None:
    """The pairing that explains the targets where the present one does not: the whole dataset in its order is given."""
    length = len(inputs)
    rows = torch.randperm(length, generator=generator)[: ROWS - 2 * ENDS]
    rows = torch.cat([rows, torch.arange(ENDS), torch.arange(length - ENDS, length)]).unique()
    for some in (rows[:: -(-len(rows) // QUICK)], rows):
        probe = Probe(inputs[some])
        present, beyond = above_chance(probe, targets[some], generator)
        if beyond >= UNRELATED:
            return None
    for order, by, places in orders(inputs):
        gain = outstanding(probe, targets, rows, places, present, generator)
        if gain is not None and (order != "by-column" or gain > by_place(targets, rows) + LEAST_GAIN):
            return Restored(order, gain, present, by)
    found = moved(probe, targets, rows, present)
    alone = sorted_alone(inputs, targets) if found is None else ""
    return Restored(alone, 0.0, present) if alone else found


def orders(inputs: Tensor) -> Iterator[tuple[Order, int, Tensor]]:
    """Yield orders: the row of the targets that belongs to each row of the inputs."""
    length = len(inputs)
    yield "reversed", 0, torch.arange(length).flip(0)
    for first in (0, 1):
        named = sorted(range(first, first + length), key=str)
        by_text = torch.tensor(named) - first
        yield "by-text", first, by_text
        yield "from-text", first, by_text.argsort()
    for column in range(min(COLUMNS, inputs.shape[1])):
        values = inputs[:, column]
        kinds = len(values.unique())
        if 2 < kinds <= MOST_GROUPS * length and length % kinds == 0:
            yield "grid", kinds, torch.arange(length).reshape(kinds, -1).T.flatten()
            yield "grid", length // kinds, torch.arange(length).reshape(-1, kinds).T.flatten()
        if kinds > 1:
            yield "by-column", column, values.argsort(stable=True).argsort()


def outstanding(
    probe: Probe, targets: Tensor, rows: Tensor, places: Tensor, present: float, generator: torch.Generator
) -> float | None:
    """What an order explains where it stands out from the same order moved by other numbers of rows, in both halves of
    the rows: neighbours that are alike explain those, too."""
    length = len(targets)
    share = smallest_half(probe, targets[places[rows]])
    if share - max(present, 0.0) < LEAST_GAIN:
        return None
    offsets = torch.randint(length // 20 + 1, length - length // 20, (DRAWS,), generator=generator)
    moved_rows = [places[(rows + int(one)) % length] for one in offsets]
    chance = probe.explained(torch.stack([targets[one] for one in moved_rows], -1))
    return share if is_beyond(share, chance) else None


def by_place(targets: Tensor, rows: Tensor) -> float:
    """What the number of its row alone tells of a target: of sorted ones nearly all, whatever they are paired with."""
    return float(Probe(rows.double()[:, None]).explained(targets[rows][..., None])[0])


def moved(probe: Probe, targets: Tensor, rows: Tensor, present: float) -> Restored | None:
    """The same for targets that stand a number of rows further on."""
    length = len(targets)
    shares = torch.empty(length - 1, dtype=torch.float64)
    for begin in range(1, length, DRAWS * 4):
        some = torch.arange(begin, min(length, begin + DRAWS * 4))
        shares[some - 1] = probe.explained(targets[(rows[:, None] + some) % length].transpose(1, 2))
    top = int(shares.argmax()) + 1
    best = float(shares[top - 1])
    away = (torch.arange(1, length) - top).abs()
    others = shares[torch.minimum(away, length - away) > length // 20]
    by = top if top <= length // 2 else top - length
    if best - max(present, 0.0) < LEAST_GAIN or not is_beyond(best, others):
        return None
    target = targets[(rows + top) % length]
    if smallest_half(probe, target) < LEAST_GAIN:
        return None
    round_the_end = (rows + by < 0) | (rows + by >= length)
    wrapped = int(round_the_end.sum())
    if wrapped and float(probe.shares(target[..., None], round_the_end)[0]) < LEAST_GAIN:
        wrapped = 0
    return Restored("moved", best, present, by, wrapped)


def smallest_half(probe: Probe, targets: Tensor) -> float:
    """What is explained of the half of the rows of which less is."""
    whole = targets[..., None]
    return min(float(probe.shares(whole, slice(half, None, 2))[0]) for half in (0, 1))


def is_beyond(share: float, chance: Tensor) -> bool:
    """Whether a share stands out from those of other pairings, the best of them too."""
    return share > max(float(chance.max()) + LEAST_GAIN / 2, float(chance.mean() + RESTORED * chance.std()))


def sorted_alone(inputs: Tensor, targets: Tensor) -> Literal["targets-sorted", "inputs-sorted", ""]:
    """The side of which all columns rise or fall from row to row; empty for none and for both."""
    ordered = [is_sorted(one) for one in (targets, inputs)]
    return "" if ordered[0] == ordered[1] else "targets-sorted" if ordered[0] else "inputs-sorted"


def class_blocks(targets: Tensor) -> tuple[int, float] | None:
    """How many classes there are and their entropy, where all rows of each stand together; None elsewhere."""
    flat = targets.flatten()
    if len(flat) != len(targets):
        return None
    kinds, counts = flat.unique(return_counts=True)
    if not 2 <= len(kinds) <= len(flat) // 16 or int((flat[1:] != flat[:-1]).sum()) != len(kinds) - 1:
        return None
    share = counts.double() / len(flat)
    return len(kinds), float(-(share * share.log()).sum())


def is_sorted(values: Tensor) -> bool:
    """Whether all columns rise, or all fall, by many different steps: what counts rows does not."""
    steps = values.double().diff(dim=0)
    one_way = bool(((steps >= 0).all(0) | (steps <= 0).all(0)).all())
    return one_way and all(len(np.unique(column)) > len(column) // 2 for column in steps.T.cpu().numpy())
