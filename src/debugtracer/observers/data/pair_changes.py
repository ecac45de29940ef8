"""Compares which target each input had with which one it has when it comes again, by fingerprints of the rows."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from debugtracer.observers.data.digest import WHOLE, readable
from debugtracer.observers.data.repeated_pairs import repeated
from debugtracer.trace.facts.moved_pairs import Moved

COLUMNS = 64  # numbers of a row that are looked at (ours)
LEAST = 96  # inputs that came again (ours)
LEAST_CHANGED = 48  # of them that have another target, and of which chance would change as many (ours)
OF_CHANCE = 0.75  # of the changes that pairs by chance would give (ours: a third of noisy labels change less)
RELATED = 4.0  # standard deviations above chance, from which the new targets follow the old ones (ours)
ALONE = 0.9  # share of inputs that differ from all others (ours), and of data that were seen whole:
ALONE_OF_ALL = 0.25
FOUND = 0.8  # share of the new targets that another input had before (ours)
AT_PLACE = 0.9  # share of rows that stand where they stood (ours)

Codes = np.ndarray[Any, np.dtype[np.int64]]


class TargetedRows(NamedTuple):
    """Some rows: a number for each input, one for each target, and the place of the row in its data."""

    inputs: Codes
    targets: Codes
    places: Codes


class PairChange(NamedTuple):
    """What came of the inputs that were seen twice."""

    moved: Moved
    rows: int
    changed: int
    known: int


@functools.lru_cache(maxsize=16)
def factors(width: int) -> Codes:
    """The odd numbers by which those of a row are multiplied, the same ones each time."""
    return np.random.default_rng(width).integers(1, 2**61, width) * 2 + 1


def row_codes(leaf: Tensor) -> Codes | None:
    """A whole number for each row of a tensor in host memory, equal for equal rows; None for what has no rows."""
    if not readable(leaf) or not leaf.dim() or not leaf.numel() or leaf.is_complex():
        return None
    rows = leaf.detach().reshape(len(leaf), -1)
    if rows.shape[1] > COLUMNS:
        rows = rows[:, :: rows.shape[1] // COLUMNS | 1][:, :COLUMNS]
    kind = WHOLE.get(rows.element_size())
    whole = (rows.contiguous().view(kind) if kind is not None else rows).numpy().astype(np.int64)
    codes: Codes = (whole * factors(whole.shape[1])).sum(1)
    return codes


def pair_change(before: TargetedRows, now: TargetedRows, whole: bool) -> PairChange | None:
    """What was changed, where the new pairs have nothing to do with the old ones; None where targets follow their
    inputs, or follow what they were, and where too few came again. `whole`: the first pairs are all of the data."""
    _, where, counts = np.unique(before.inputs, return_inverse=True, return_counts=True)
    alone = counts[where] == 1
    if len(alone) < LEAST or alone.mean() < (ALONE_OF_ALL if whole else ALONE):
        return None
    order = np.argsort(before.inputs[alone])
    known, targets, places = (column[alone][order] for column in before)
    at = np.searchsorted(known, now.inputs).clip(max=len(known) - 1)
    again = known[at] == now.inputs
    old, new = targets[at][again], now.targets[again]
    by_chance = chance_of_change(old, new) * len(old) if len(old) >= LEAST else 0.0
    changed = int((old != new).sum())
    if min(changed, by_chance) < LEAST_CHANGED or changed < OF_CHANCE * by_chance:
        return None
    found = int(np.isin(new, before.targets).sum())
    if found < FOUND * len(new) or repeated(numbered(old, new)) >= RELATED:
        return None
    return PairChange(moved(before, now, places[at][again], again), len(old), changed, found)


def moved(before: TargetedRows, now: TargetedRows, places: Codes, again: Any) -> Moved:
    """Which side stands at other places than before; `places`: where the inputs stood."""
    if (places == now.places[again]).mean() >= AT_PLACE:
        return "targets"
    stood = dict(zip(before.places.tolist(), before.targets.tolist(), strict=True))
    known = [stood[p] == t for p, t in zip(now.places.tolist(), now.targets.tolist(), strict=True) if p in stood]
    return "inputs" if known and sum(known) >= AT_PLACE * len(known) else "both"


def chance_of_change(old: Codes, new: Codes) -> float:
    """How often two targets drawn from both would differ."""
    kinds, where = np.unique(np.concatenate([old, new]), return_inverse=True)
    one, other = (np.bincount(part, minlength=len(kinds)) / len(old) for part in np.split(where, 2))
    return 1.0 - float((one * other).sum())


def numbered(old: Codes, new: Codes) -> Tensor:
    """The pairs of targets as small whole numbers."""
    where = np.unique(np.concatenate([old, new]), return_inverse=True)[1]
    return torch.from_numpy(np.stack(np.split(where, 2)))
