"""Which rows of the batch dimension a bad value belongs to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch._ops import OpOverload

from debugtracer.recorder.tape.held_rows import (
    MOVES,
    SPREADS,
    HeldRows,
    all_rows,
    common_rows,
    first_wide,
    lies_first,
    rows_after_move,
    unknown_rows,
)
from debugtracer.replay.op_trace.calls import Group
from debugtracer.replay.op_trace.kinds import short
from debugtracer.replay.op_trace.tensor_writes import OpRecord

Dims = tuple[tuple[int, ...], ...]
Shapes = frozenset[tuple[int, ...]]
SUMMING = {"mm", "addmm", "sum", "convolution_backward", "embedding_dense_backward", "native_layer_norm_backward", "t"}


def rows_of(records: list[OpRecord], batch: int | None, parameters: Shapes = frozenset()) -> tuple[int, ...] | None:
    """The guilty rows of all these births together; None when unknown. `batch` is the size of the batch dimension."""
    if not batch:
        return None
    found: set[int] = set()
    for record in records:
        rows = of_record(record, batch, parameters)
        if rows is None:
            return None
        found |= rows
    return tuple(sorted(found)) or None


def of_record(record: OpRecord, batch: int, parameters: Shapes) -> set[int] | None:
    """The rows of one birth: by its result, by its bad inputs, or all rows where the whole batch made a zero."""
    if sums_the_batch_away(record, parameters):
        return None
    part = record.part
    rows = placed(part, record.shape, record.by_dim, batch)
    for shape, dims in record.input_dims if rows is None else ():
        rows = rows or placed(part, shape, dims, batch)
    if rows is None:
        rows = through_parents(record, batch)
    if rows is None and record.kind == "0/0" and record.of_batch and record.counts[2] == 1:
        known = part is None or (part.of == batch and part.at)  # the quotient of two sums over the batch:
        rows = set(part.at if part is not None else range(batch)) if known else None  # every row took part in the zero
    return rows


def placed(part: HeldRows | None, shape: tuple[int, ...], dims: Dims, batch: int) -> set[int] | None:
    """The rows of the batch behind indices in the shape of what holds `part` of it; all of it in its own order where
    that is None."""
    if part is None:
        return in_dims(shape, dims, batch)
    if part.turned and part.of == batch and dims:
        place = shape.index(len(part.at)) if shape.count(len(part.at)) == 1 else None
        return part.rows(dims[place]) if place is not None and dims[place] else None
    places = in_dims(shape, dims, len(part.at)) if part.at and part.of == batch else None
    return part.rows(places) if places is not None else None


def in_dims(shape: tuple[int, ...], dims: Dims, batch: int) -> set[int] | None:
    """Map indices in a shape to rows: dim 0 when it is a multiple of the batch (B*T, B*heads), else the first dim equal
    to it."""
    if not shape or not dims:
        return None
    if shape[0] >= batch and shape[0] % batch == 0 and dims[0]:
        per = shape[0] // batch
        return {index // per for index in dims[0]}
    place = next((d for d, size in enumerate(shape) if size == batch and batch > 1), None)
    return set(dims[place]) if place is not None and dims[place] else None


def through_parents(record: OpRecord, batch: int) -> set[int] | None:
    """The rows of the nearest bad ancestors that have the batch dimension."""
    seen: set[int] = set()
    level = record.parents
    while level:
        for parent in level:
            rows = placed(parent.part, parent.shape, parent.by_dim, batch)
            if rows is not None:
                return rows
        seen |= {id(p) for p in level}
        level = [g for p in level for g in p.parents if id(g) not in seen]
    return None


def sums_the_batch_away(record: OpRecord, parameters: Shapes) -> bool:
    """True for updates and for gradients of parameters, which may have the batch's size by chance."""
    meta = record.meta
    if meta is None or meta.direction == "forward":
        return False
    return meta.direction == "update" or (short(record.op) in SUMMING and record.shape in parameters)


def rows_after(
    func: OpOverload, name: str, group: Group, held: dict[int, HeldRows], call: tuple[tuple[Any, ...], dict[str, Any]]
) -> HeldRows | None:
    """Which rows of the batch are in the result of an op that has read these. Syncs the host."""
    of = next(iter(held.values())).of
    if name in SPREADS and call[0] and id(call[0][0]) in held:
        return placed_in_result(held[id(call[0][0])], held, group)
    if name in SPREADS:
        back = group.outs and group.outs[0].dim() and group.outs[0].shape[0] % of == 0
        return placed_in_result(all_rows(of), {}, group) if back else unknown_rows(of)
    args, kwargs = call
    given = args[0] if args and isinstance(args[0], (list, tuple)) else args[:1]
    if name in MOVES and any(id(one) in held for one in given):
        try:
            part = rows_after_move(func, args, kwargs, {id(one): held[id(one)] for one in given if id(one) in held})
            return replace(part, turned=part.turned or any(not lies_first(out) for out in group.outs))
        except RuntimeError:
            return unknown_rows(of)
    kept = common_rows(held.values())
    return placed_in_result(kept, held, group) if kept is not None else None


def placed_in_result(part: HeldRows, held: dict[int, HeldRows], group: Group) -> HeldRows:
    """The same rows, with what is known of where they lie in a result: as in what was read, where their dimension is
    first in both and as long, else in the only one of that size."""
    if len(part.at) < 2 or not group.outs:
        return part
    out = group.outs[0]
    size = out.shape[first_wide(out)] if lies_first(out) and out.dim() else 0
    same = [
        read.tensor for read in group.reads if held.get(id(read.tensor)) == part and not held[id(read.tensor)].turned
    ]
    aligned = [one for one in same if one.dim() >= out.dim() > 0 and lies_first(one)]
    kept = any(one.shape[first_wide(one)] == size for one in aligned)
    alone = size == len(part.at) and out.shape.count(size) == 1
    return replace(part, turned=not (kept or alone))
