"""Which row of a batch holds, bit for bit, the number that an op could not take: where a mask has left other rows than
those of the batch."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch

from debugtracer.recorder.tape.batches import Batch
from debugtracer.trace.birth import Birth
from debugtracer.trace.number import as_float

KINDS = ("domain",)
COMMON = (0.0, 1.0, -1.0)  # numbers that stand in many rows by chance
MOST_BYTES = 1 << 28  # of a tensor of the batch that is looked through (ours)


class ValueRow(NamedTuple):
    """A leaf of the batch, e.g. `batch[1]`, and its rows."""

    path: str
    rows: tuple[int, ...]


def value_rows(birth: Birth | None, batch: Batch | None) -> ValueRow | None:
    """The rows of the only tensor of the batch that holds these numbers, where each is held by one row and the op met
    no other; None where one is common, or was computed. Syncs the host."""
    if birth is None or batch is None:
        return None
    met = birth.inputs[0] if birth.kind in KINDS and birth.inputs else None
    values = dict.fromkeys(as_float(value) for value in met.values) if met is not None else {}
    bad = birth.output.nan + birth.output.posinf + birth.output.neginf if birth.output is not None else 0
    if met is None or not values or bad > len(met.values):
        return None
    if any(not math.isfinite(value) or value in COMMON or value == round(value) for value in values):
        return None
    found: list[ValueRow] = []
    for path, leaf in batch.tensors():
        fits = leaf.dim() and leaf.shape[0] == batch.rows and leaf.layout is torch.strided
        if not fits or not leaf.is_floating_point() or leaf.nbytes > MOST_BYTES:
            continue
        with torch.no_grad():
            flat = leaf.detach().reshape(len(leaf), -1)
            held = [(flat == value).any(1).nonzero().flatten().tolist() for value in values]
        if all(len(rows) == 1 for rows in held):
            found.append(ValueRow(path, tuple(dict.fromkeys(rows[0] for rows in held))))
        elif any(held):
            return None
    return found[0] if len(found) == 1 else None
