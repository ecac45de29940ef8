"""Tracks the ops of a traced step: judges every result, and follows bad values to their births."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload

from debugtracer.errors import swallow
from debugtracer.recorder.state.sizes import sizes
from debugtracer.recorder.tape.entry import HALF
from debugtracer.recorder.tape.held_rows import HeldRows, all_rows
from debugtracer.replay.op_trace.calls import Group, OpRead, Shape, constant, groups, named, nonfinite_number, shape_of
from debugtracer.replay.op_trace.classes import (
    FINITE,
    INF,
    NAN,
    bad_mask,
    class_of,
    coordinates_of,
    facts_of,
    floating,
    indices_by_dim,
    plain,
    tensors,
    values_at,
    worst_mask,
)
from debugtracer.replay.op_trace.covering import is_mask, meets, uncovered
from debugtracer.replay.op_trace.decompose import inner_op
from debugtracer.replay.op_trace.empty_groups import empty_group
from debugtracer.replay.op_trace.kinds import kind_of, masks_by_design, short
from debugtracer.replay.op_trace.op_records import OpRecords
from debugtracer.replay.op_trace.rows import rows_after
from debugtracer.replay.op_trace.tensor_writes import CONST, EVENT, PASS, SOURCE, UNWRITTEN, OpRecord
from debugtracer.trace.op import OpMeta

MOST_INPUTS = 6
ALIGNS = ("_ctc_loss", "_cudnn_ctc_loss")
"""Ops with one loss for each row of their targets, in the order of these."""


class OpTracker(OpRecords):
    """An OpListener. Keeps records of ops and copies of at most 8 values per birth, no tensors. Syncs the host once per
    op."""

    def __init__(self, *, decompose: bool = True) -> None:
        super().__init__()
        self.decompose = decompose
        self.saved: dict[int, Tensor] = {}

    def before(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Copy what the op is going to write to and also reads."""
        self.saved = {}
        shape = shape_of(func)
        if shape.changed and not shape.overwrites:
            for name, value in named(shape, args, kwargs):
                if name in shape.changed and name not in shape.out:
                    self.saved.update({id(t): t.detach().clone() for t in tensors(value) if floating(t)})

    def after(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], out: object, meta: OpMeta) -> None:
        """Judge the results of an op that has run."""
        shape = shape_of(func)
        saved, self.saved = self.saved, {}
        for group in groups(shape, args, kwargs, out, saved):
            self.judge(func, shape, group, args, kwargs, meta)

    def judge(
        self, func: OpOverload, shape: Shape, group: Group, args: tuple[Any, ...], kwargs: dict[str, Any], meta: OpMeta
    ) -> None:
        """Record one group, and explain its worst result if that is bad."""
        record = OpRecord(meta, func._schema.name, self.order)
        self.order += 1
        self.provenance(record, func, shape, group, (args, kwargs))
        if shape.empty:
            record.status = UNWRITTEN
            return self.wrote(record, group, [UNWRITTEN] * len(group.outs))
        classes = [class_of(t) for t in group.outs]
        worst = max(classes, default=FINITE)
        if worst:
            result = group.outs[classes.index(worst)]
            record.shape = sizes(result)
            self.explain(record, func, shape, group, result, worst, (args, kwargs))
        elif group.outs:
            record.shape = sizes(group.outs[0])
        self.watch_half(record, shape, group)
        return self.wrote(record, group, [c > FINITE for c in classes])

    def provenance(
        self,
        record: OpRecord,
        func: OpOverload,
        shape: Shape,
        group: Group,
        call: tuple[tuple[Any, ...], dict[str, Any]],
    ) -> None:
        """Find which ops made the tensors of a group, and whether batch or parameters are behind them."""
        makers: dict[int, OpRecord] = {}
        held: dict[int, HeldRows] = {}
        for read in group.reads:
            writers, was_there = self.memory.writers(read.tensor)
            makers.update({id(w): w for w in writers[:4]})
            name = self.memory.name_of(read.tensor) if was_there else ""
            record.of_batch = record.of_batch or name.startswith("batch")
            record.of_parameter = record.of_parameter or name.startswith("parameter")
            part = self.memory.part_of(read.tensor)
            if part is not None:
                held[id(read.tensor)] = part
        record.makers = tuple(makers.values())
        record.of_batch = record.of_batch or any(m.of_batch for m in record.makers)
        record.of_parameter = record.of_parameter or any(m.of_parameter for m in record.makers)
        record.part = rows_after(func, shape.name, group, held, call) if held else None
        if shape.name in ALIGNS and group.outs and self.of_the_batch(group, "targets"):
            record.part = all_rows(group.outs[0].shape[0])

    def of_the_batch(self, group: Group, argument: str) -> bool:
        """Whether an argument of an op is a tensor of the batch as it came."""
        return any(
            self.memory.writers(read.tensor)[1] and self.memory.name_of(read.tensor).startswith("batch")
            for read in group.reads
            if read.name == argument
        )

    def wrote(self, record: OpRecord, group: Group, bad: list[Any]) -> None:
        """Note the results as writes; a view of what it read is none. A finite one of several results gets a clean
        record."""
        written = {id(t) for t in group.written}
        read = {id(self.memory.cell(r.tensor)) for r in group.reads}
        for tensor, is_bad in zip(group.outs, bad, strict=True):
            if id(tensor) not in written and id(self.memory.cell(tensor)) in read:
                continue
            clean = (
                record
                if is_bad or not record.status
                else OpRecord(
                    record.meta,
                    record.op,
                    record.order,
                    sizes(tensor),
                    record.makers,
                    of_batch=record.of_batch,
                    of_parameter=record.of_parameter,
                    part=record.part,
                )
            )
            self.memory.write(tensor, clean)

    def explain(
        self,
        record: OpRecord,
        func: OpOverload,
        shape: Shape,
        group: Group,
        result: Tensor,
        worst: int,
        call: tuple[tuple[Any, ...], dict[str, Any]],
    ) -> None:
        """Explain a bad result: a birth, a deliberate infinity, or a bad value passed on."""
        mask = worst_mask(result)
        bad_reads = [(r, class_of(r.before)) for r in group.reads if floating(r.before)]
        bad_reads = [(r, c) for r, c in bad_reads if c and (not shape.pointwise or meets(r.before, mask))]
        parents = {id(p): p for r, _ in bad_reads for p in self.sources(r)}
        record.parents = [p for p in parents.values() if p.status != UNWRITTEN]
        unwritten = [p for p in parents.values() if p.status == UNWRITTEN]
        if unwritten and not record.parents:
            if shape.partly or (shape.mutable and all(r.written for r, _ in bad_reads)):
                record.status = UNWRITTEN  # garbage that is still to be overwritten
                return
            record.kind = "uninitialised"
        record.number = None if bad_reads else nonfinite_number(shape, *call)
        record.status = self.status(record, shape, group, bad_reads, worst, mask, call)
        record.arithmetic = record.status == EVENT or any(p.arithmetic for p in record.parents)
        bad = bad_mask(result)
        flat = plain(result)
        nan = int(torch.isnan(flat).sum())
        record.counts = (nan, int(bad.sum()) - nan, flat.numel())
        record.by_dim = indices_by_dim(mask)
        if record.status == EVENT:
            self.describe(record, func, group, result, worst, mask, bad_reads, call)
        elif record.status == PASS or record.status == CONST:
            record.input_dims = tuple(
                (tuple(r.before.shape), indices_by_dim(worst_mask(r.before)))
                for r, _ in bad_reads[:2]
                if record.counts[2] <= 1
            )

    def status(
        self,
        record: OpRecord,
        shape: Shape,
        group: Group,
        bad_reads: list[tuple[OpRead, int]],
        worst: int,
        mask: Tensor,
        call: tuple[tuple[Any, ...], dict[str, Any]],
    ) -> str:
        """The rule: Inf out of finite numbers is an event unless written on purpose; NaN out of deliberate infinities
        is one too."""
        if record.kind == "uninitialised":
            return EVENT
        if not bad_reads:
            deliberate = worst == INF and (
                constant(shape, *call) or (short(record.op) == "log" and is_mask(group, record))
            )
            return CONST if deliberate else EVENT
        if any(p.arithmetic for p in record.parents):
            return PASS
        if worst == INF:
            fresh = shape.pointwise and uncovered(bad_reads, mask)
            return EVENT if fresh and not constant(shape, *call) else CONST
        return EVENT

    def describe(
        self,
        record: OpRecord,
        func: OpOverload,
        group: Group,
        result: Tensor,
        worst: int,
        mask: Tensor,
        bad_reads: list[tuple[OpRead, int]],
        call: tuple[tuple[Any, ...], dict[str, Any]],
    ) -> None:
        """Describe a birth while its tensors are alive."""
        record.coordinates = coordinates_of(mask)
        inputs = []
        for read in group.reads[:MOST_INPUTS]:
            writers, open_ = self.memory.writers(read.tensor)
            made_by = next((w.op for w in writers[:1]), "")
            made_at = next((w.meta.frames[0] for w in writers[:1] if w.meta is not None and w.meta.frames), None)
            name = (self.memory.name_of(read.tensor) if open_ else "") or read.name
            inputs.append(
                facts_of(read.before, name, values_at(read.before, record.shape, record.coordinates), made_by, made_at)
            )
        record.inputs = tuple(inputs)
        record.output = facts_of(
            result, self.memory.name_of(result), values_at(result, record.shape, record.coordinates)
        )
        record.input_dims = tuple((tuple(r.before.shape), indices_by_dim(worst_mask(r.before))) for r, _ in bad_reads)
        if not record.kind:
            half = any(t.dtype in HALF for t in group.outs)
            record.kind = kind_of(record.op, worst == NAN, bool(bad_reads), record.inputs, half)
        if record.kind in ("0/0", "domain", "overflow") and record.meta is not None:
            record.group = empty_group(record.op, record.shape, record.coordinates)
        name = self.memory.name_of(result)
        record.param = name.removeprefix("parameter ") if name.startswith("parameter ") else None
        soft = [p for p in ancestors_on_purpose(record) if p.status == SOURCE and p.name]
        if soft and not masks_by_design(record.op):
            record.parents, record.status = soft, PASS  # -inf of the data that no softmax was there to read as a mask
            for source in soft:
                source.arithmetic = True
        elif self.decompose:
            try:
                record.inner = inner_op(
                    func, *call, self.__class__, {id(r.tensor): r.before for r in group.reads if r.written}
                )
            except Exception as error:
                swallow("the decomposition of a fused op", error)

    def watch_half(self, record: OpRecord, shape: Shape, group: Group) -> None:
        """Count elements of backward results in half precision that are 0 although every factor was not."""
        if (
            not shape.pointwise
            or record.meta is None
            or (record.meta.direction != "backward" and short(record.op) != "to_copy")
        ):
            return
        if record.meta.direction == "backward" and group.outs and group.outs[0].dtype in HALF and group.reads:
            result = group.outs[0]
            alive = torch.ones_like(result, dtype=torch.bool)
            for read in group.reads:
                try:
                    alive &= read.before != 0
                except RuntimeError:
                    return
            self.flushed += int(((result == 0) & alive).sum())
            self.halves += int(alive.sum())


def ancestors_on_purpose(record: OpRecord) -> list[OpRecord]:
    """The sources of the deliberate infinities that an event read."""
    found, queue, seen = [], list(record.parents), set()
    while queue:
        one = queue.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if one.status == SOURCE:
            found.append(one)
        queue += one.parents
    return found
