"""The rows of a batch as a small table for the reader: guilty rows beside the first ones, with range, counts, values,
label and text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from debugtracer.recorder.capsule.picture import looks_of
from debugtracer.recorder.capsule.tokenizer import decoder_for
from debugtracer.recorder.state.leaves import Leaf
from debugtracer.recorder.tape.batches import Batch
from debugtracer.trace.number import Number, number

VERSION = 1
VALUES = 16
MOST_GUILTY = 64
LOOKED_AT = 6  # guilty rows, and others, that are kept as a person looks at them: those that the page shows
_ROW_BYTES = 64 * 2**20
Decode = Callable[[list[int]], str | None]


def batch_table(batch: Batch, guilty_rows: Iterable[int], first: int = 5) -> dict[str, Any]:
    """The table of a loader's batch (see table_of); integer rows are decoded if the loader holds a tokenizer. Syncs the
    host."""
    loader = batch.loader.loader()
    return table_of(
        batch.tensors(),
        batch.rows,
        batch.indices,
        guilty_rows,
        first,
        decoder_for(loader) if loader is not None else None,
    )


def table_of(
    leaves: Sequence[Leaf],
    rows: int | None,
    indices: Sequence[int] | None = None,
    guilty_rows: Iterable[int] = (),
    first: int = 5,
    decode: Decode | None = None,
) -> dict[str, Any]:
    """The guilty rows (at most 64, `omitted` counts the rest) and the `first` rows of tensors whose first dimension is
    `rows`.

    Returns {"version", "rows": [{"row", "index", "guilty", "leaves", "label"}], "leaves": [{"name", "dtype", "shape"}],
    "omitted"}, ready for JSON. Tensors may be on any device; one row at a time is copied to the host (a sync).
    """
    guilty = sorted({row for row in guilty_rows if rows is not None and 0 <= row < rows})
    shown = sorted({*guilty[:MOST_GUILTY], *range(min(first, rows or 0))})
    by_row = [(name, leaf) for name, leaf in leaves if leaf.dim() > 0 and leaf.shape[0] == rows]
    with torch.no_grad():
        seen = {*guilty[:LOOKED_AT], *[row for row in shown if row not in guilty][:LOOKED_AT]}
        made = [_row(row, by_row, indices, row in guilty, decode, row in seen) for row in shown]
    return {
        "version": VERSION,
        "rows": made,
        "leaves": [{"name": name, "dtype": _dtype(leaf), "shape": list(leaf.shape)} for name, leaf in leaves],
        "omitted": max(0, len(guilty) - MOST_GUILTY),
    }


def _row(
    row: int, leaves: list[Leaf], indices: Sequence[int] | None, guilty: bool, decode: Decode | None, seen: bool
) -> dict[str, Any]:
    cells = [_cell(name, leaf[row], decode, seen) for name, leaf in leaves]
    index = indices[row] if indices is not None and row < len(indices) else None
    return {"row": row, "index": index, "guilty": guilty, "leaves": cells, "label": _label(cells)}


def _cell(name: str, row: torch.Tensor, decode: Decode | None, seen: bool) -> dict[str, Any]:
    """Describe one leaf of one row, one that is `seen` also as a picture or a signal; low and high are of finite
    values, and a row over 64 MiB is not read."""
    cell: dict[str, Any] = {"name": name, "dtype": _dtype(row), "shape": list(row.shape)}
    cell |= {"low": None, "high": None, "nan": 0, "inf": 0, "zeros": 0, "values": [], "text": None}
    if row.layout != torch.strided or row.is_quantized or row.numel() * row.element_size() > _ROW_BYTES:
        return cell
    values = _plain(row.detach().cpu())
    integral = not values.is_floating_point()
    finite = values[values.isfinite()]
    if finite.numel():
        cell |= {"low": _told(finite.min(), integral), "high": _told(finite.max(), integral)}
    cell |= {"nan": int(values.isnan().sum()), "inf": int(values.isinf().sum()), "zeros": int((values == 0).sum())}
    cell["values"] = [_told(value, integral) for value in values[:VALUES]]
    if seen:
        cell |= looks_of(row.detach().cpu())
    if decode is not None and integral and row.dim() == 1 and row.dtype != torch.bool:
        cell["text"] = decode(values.tolist())
    return cell


def _plain(row: torch.Tensor) -> torch.Tensor:
    """Flatten to a dtype whose comparisons exist on every build: float64 for floats and complex parts, else int64."""
    if row.is_complex():
        row = torch.view_as_real(row.resolve_conj())
    return row.reshape(-1).to(torch.float64 if row.is_floating_point() else torch.int64)


def _told(value: torch.Tensor, integral: bool) -> Number | int:
    return int(value.item()) if integral else number(value.item())


def _label(cells: list[dict[str, Any]]) -> Number | int | None:
    """The value of the row's scalar leaf: the last integer one, else the last float one."""
    scalars = [cell for cell in cells if cell["shape"] in ([], [1]) and len(cell["values"]) == 1]
    integers = [cell for cell in scalars if "int" in cell["dtype"] or cell["dtype"] == "bool"]
    chosen = integers or scalars
    label: Number | int | None = chosen[-1]["values"][0] if chosen else None
    return label


def _dtype(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
