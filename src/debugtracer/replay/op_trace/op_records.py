"""What a traced step knows of its tensors: who wrote each, its name, and the bad ones that were there before the
step."""

from __future__ import annotations

import torch
from torch import Tensor

from debugtracer.recorder.state.sizes import sizes
from debugtracer.recorder.tape.held_rows import HeldRows, all_rows
from debugtracer.replay.op_trace.calls import OpRead
from debugtracer.replay.op_trace.classes import (
    bad_mask,
    coordinates_of,
    facts_of,
    indices_by_dim,
    plain,
    values_at,
    worst_mask,
)
from debugtracer.replay.op_trace.tensor_writes import SOURCE, UNWRITTEN, OpRecord, Writes


class OpRecords:
    """Filled by an OpTracker while the ops run; read when the birth of a bad value is looked for."""

    def __init__(self) -> None:
        self.memory = Writes()
        self.order = 0
        self.flushed = self.halves = 0
        self.parameter_shapes: set[tuple[int, ...]] = set()

    @property
    def flushed_share(self) -> float | None:
        """Share (0..1) of half gradient elements that an elementwise backward op turned into 0 although all its factors
        were not; None without any."""
        return self.flushed / self.halves if self.halves else None

    def label(self, tensor: Tensor, name: str, part: HeldRows | None = None) -> None:
        """Name a tensor that is there before the step: `parameter fc.weight`, `batch[0]`. One name per place in memory,
        the first stays. `part` says which rows of its batch a tensor holds; without it, it has them all."""
        if part is None and name.startswith("batch") and tensor.dim():
            part = all_rows(tensor.shape[0])
        self.memory.label(tensor, name, part)
        if name.startswith("parameter"):
            self.parameter_shapes |= {tuple(tensor.shape), tuple(tensor.shape)[::-1]}

    def sources(self, read: OpRead) -> list[OpRecord]:
        """Return the records of the bad value in a tensor: the bad writes seen in it, else the tensor as it was before
        the step."""
        writers, was_there = self.memory.writers(read.tensor)
        bad = [w for w in writers if w.bad]
        if bad or not (was_there or writers):
            written = [w for w in bad if w.status != UNWRITTEN]
            return written or bad
        return [self.source(read.tensor, read.before)]

    def source(self, tensor: Tensor, values: Tensor) -> OpRecord:
        """The record of a bad tensor from before the step."""
        cell = self.memory.cell(tensor)
        name = self.memory.name_of(tensor)
        key = (int(tensor.storage_offset()), tensor.numel()) if tensor.layout is torch.strided else (0, 0)
        known = cell.sources.get(key)
        if known is not None:
            return known
        mask = worst_mask(values)
        flat = plain(values)
        nan = bool(torch.isnan(flat).any())
        only_masks = not nan and not bool(torch.isposinf(flat).any())
        record = OpRecord(None, "", self.order, sizes(values), status=SOURCE, name=name, masks=only_masks or not name)
        self.order += 1
        record.arithmetic = nan or (bool(name) and not only_masks)
        record.part = self.memory.part_of(tensor)
        record.by_dim, record.coordinates = indices_by_dim(mask), coordinates_of(mask)
        bad = int(bad_mask(values).sum())
        record.counts = (int(torch.isnan(flat).sum()), bad - int(torch.isnan(flat).sum()), flat.numel())
        record.output = facts_of(values, name, values_at(values, record.shape, record.coordinates))
        cell.sources[key] = record
        return record
