"""For an incident: whether the number that an op could not take stands in all rows of the data, as a setting does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from debugtracer.callsites.origins.column_fill import column_fill, kept_uses, uses_of
from debugtracer.causes.incident_evidence import base
from debugtracer.recorder.tape.batches import Batch
from debugtracer.trace.batch_setting import BatchSetting
from debugtracer.trace.birth import Birth, TensorFacts
from debugtracer.trace.number import as_float, number

LEAST_ROWS = 4  # of a batch, below which all rows alike say nothing (ours)
UNDEFINED: dict[str, tuple[int, Callable[[float], bool]]] = {
    **dict.fromkeys(("div", "true_divide", "remainder", "fmod"), (1, lambda value: value == 0)),
    "reciprocal": (0, lambda value: value == 0),
    **dict.fromkeys(("log", "log2", "log10", "rsqrt"), (0, lambda value: value <= 0)),
    "sqrt": (0, lambda value: value < 0),
    "log1p": (0, lambda value: value <= -1),
    **dict.fromkeys(("acos", "asin"), (0, lambda value: abs(value) > 1)),
}
"""Which input of an op, and for which numbers it has no finite value."""
MOST_BYTES = 1 << 30  # of an array of the data set that is looked through (ours)


def batch_setting(birth: Birth | None, batch: Batch | None) -> BatchSetting | None:
    """The tensor of the batch, or its one column, that gave the op the same number in every row, where all rows of the
    store hold it or the source says that it was set. None for numbers of single rows. Syncs the host."""
    rows = batch.rows if batch is not None else None
    if birth is None or batch is None or rows is None or rows < LEAST_ROWS or birth.kind == "input":
        return None
    if birth.rows is None or len(set(birth.rows)) != rows:
        return None
    place, refuses = UNDEFINED.get(base(birth.op), (len(birth.inputs), bool))
    met = birth.inputs[place] if place < len(birth.inputs) else None
    value = common(met) if met is not None else None
    leaf = next((leaf for path, leaf in batch.tensors() if met is not None and path == met.name), None)
    if met is None or value is None or not refuses(value):
        return None
    if leaf is None or leaf.dim() not in (1, 2) or leaf.shape[0] != rows:
        return None
    with torch.no_grad():
        flat = leaf.detach().reshape(rows, -1)
        alike = (flat == value).all(0).nonzero().flatten().tolist()
    if len(alike) != 1:
        return None
    return told(batch, met.name, flat, alike[0] if flat.shape[1] > 1 else None, value)


def common(met: TensorFacts) -> float | None:
    """The one number that an input had at all bad places; None for several."""
    values = {as_float(value) for value in met.values}
    return values.pop() if len(values) == 1 else None


def told(batch: Batch, name: str, flat: Tensor, column: int | None, value: float) -> BatchSetting | None:
    """What is known of that number; None where another row of the store has another one, or nothing tells."""
    dataset = batch.loader.dataset_held()
    held = store(dataset, batch.indices, flat)
    uses = uses_of(batch.loader.origin(name))
    if held is not None:
        table = held[1].reshape(len(held[1]), -1)
        if not bool((table[:, column or 0] == value).all()):
            return None
        uses = [*kept_uses(dataset, held[0]), *uses]
    lines = column_fill(uses, column, value)
    if held is None and lines is None:
        return None
    return BatchSetting(
        name=name,
        column=column,
        value=number(value),
        rows=len(flat),
        stored=f"{type(dataset).__name__}.{held[0]}" if held is not None else "",
        stored_rows=len(held[1]) if held is not None else 0,
        written=lines.written if lines is not None else None,
        frame=lines.frame if lines is not None else None,
    )


def store(dataset: Any, indices: Sequence[int] | None, flat: Tensor) -> tuple[str, Tensor] | None:
    """The array among the attributes of a data set whose rows these are, with its name."""
    if indices is None or len(indices) != len(flat):
        return None
    for name, table in arrays(dataset):
        if len(table) <= max(indices) or table.numel() != len(table) * flat.shape[1]:
            continue
        rows = table[list(indices)].reshape(len(flat), -1)
        if rows.dtype == flat.dtype and torch.equal(rows, flat.cpu()):
            return name, table
    return None


def arrays(dataset: Any) -> Iterator[tuple[str, Tensor]]:
    """The arrays that a data set keeps under a name, and those of a TensorDataset."""
    kept = vars(dataset) if hasattr(dataset, "__dict__") else {}
    every = [*kept.items(), *((f"tensors[{i}]", one) for i, one in enumerate(kept.get("tensors", ())))]
    for name, value in every:
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiu" and not isinstance(value, np.memmap):
            value = torch.from_numpy(value) if value.flags.writeable and value.nbytes <= MOST_BYTES else None
        if isinstance(value, Tensor) and value.layout is torch.strided and value.dim() and value.nbytes <= MOST_BYTES:
            yield name, value.detach().cpu()
