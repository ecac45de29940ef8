"""Which op wrote what is in a tensor: records of ops, and per storage the writes that are still there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef

from debugtracer.recorder.tape.held_rows import HeldRows, outermost, rows_of_memory, unknown_rows
from debugtracer.trace.birth import TensorFacts
from debugtracer.trace.op import OpMeta

EVENT, CONST, PASS, SOURCE, UNWRITTEN = "event", "const", "pass", "source", "unwritten"


@dataclass(eq=False)
class OpRecord:
    """One op of the step, or a tensor that was there before it."""

    meta: OpMeta | None
    op: str
    """The op that ran; "" for a tensor from before."""
    order: int
    shape: tuple[int, ...] = ()
    makers: tuple[OpRecord, ...] = ()
    """Records of everything it read."""
    status: str = ""
    """"" while its result is finite; EVENT a birth, CONST a deliberate infinity, PASS a bad value from its parents,
    SOURCE a bad input, UNWRITTEN memory."""
    parents: list[OpRecord] = field(default_factory=list)
    """Records of the bad values it read."""
    arithmetic: bool = False
    """True if an event is among its ancestors: the badness is not deliberate."""
    name: str = ""
    counts: tuple[int, int, int] = (0, 0, 0)
    """NaN, Inf, elements of its worst output."""
    by_dim: tuple[tuple[int, ...], ...] = ()
    coordinates: tuple[tuple[int, ...], ...] = ()
    inputs: tuple[TensorFacts, ...] = ()
    input_dims: tuple[tuple[tuple[int, ...], tuple[tuple[int, ...], ...]], ...] = ()
    """(shape, bad indices by dimension) of each bad input."""
    output: TensorFacts | None = None
    kind: str = ""
    inner: str | None = None
    param: str | None = None
    masks: bool = False
    """SOURCE: holds -inf only, as an additive mask does."""
    of_batch: bool = False
    """Something labelled `batch...` went into it."""
    of_parameter: bool = False
    part: HeldRows | None = None
    """Which rows of the batch went into it; None where it has none that is known by its rows."""

    @property
    def bad(self) -> bool:
        """True if its result was not finite."""
        return bool(self.status)


@dataclass
class Write:
    """One write into a storage: bytes [low, high), by whom, and whether it left a bad value."""

    low: int
    high: int
    dense: bool
    record: OpRecord
    rows: int = 0
    """How many lie one after another in it, by its outermost dimension."""


@dataclass
class Label:
    """Bytes [low, high) with a name; of a batch also the rows that lie one after another in them."""

    low: int
    high: int
    name: str
    rows: int = 0
    part: HeldRows | None = None


@dataclass
class StorageCell:
    """A storage. The weak reference keeps its address from being given to another one."""

    ref: StorageWeakRef | Tensor
    writes: list[Write] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    sources: dict[tuple[int, int], OpRecord] = field(default_factory=dict)


class Writes:
    """Who wrote what into the storages of a step."""

    def __init__(self) -> None:
        self.cells: dict[int, StorageCell] = {}

    def cell(self, tensor: Tensor) -> StorageCell:
        """The cell of a tensor's storage; of its values for a sparse one."""
        tensor = values_of(tensor)
        try:
            storage = tensor.untyped_storage()
        except (RuntimeError, NotImplementedError):
            return self.cells.setdefault(-id(tensor), StorageCell(tensor))  # kept alive: its id stays its own
        found = self.cells.get(storage._cdata)
        if found is None:
            found = self.cells[storage._cdata] = StorageCell(StorageWeakRef(storage))
        return found

    def label(self, tensor: Tensor, name: str, part: HeldRows | None = None) -> None:
        """Name the bytes of a tensor; the first name stays. `part` says which rows of its batch it holds."""
        low, high, dense = extent(tensor)
        labels = self.cell(tensor).labels
        if all((low, high) != (label.low, label.high) for label in labels):
            held = part if dense or part is None else unknown_rows(part.of)
            labels.append(Label(low, high, name, rows_in(tensor), held))

    def name_of(self, tensor: Tensor) -> str:
        """The label of the bytes of a tensor, the narrowest that overlaps; "" if it has none."""
        low, high, _ = extent(tensor)
        hits = [
            (label.high - label.low, label.name)
            for label in self.cell(tensor).labels
            if (label.low < high and low < label.high) or (label.low, label.high) == (low, high)
        ]
        return min(hits)[1] if hits else ""

    def part_of(self, tensor: Tensor) -> HeldRows | None:
        """Which rows of a batch are in a tensor: as the write says that filled its bytes, else as the narrowest label
        around them does."""
        low, high, _ = extent(tensor)
        cell = self.cell(tensor)
        for write in reversed(cell.writes):
            if write.low < high and low < write.high:
                covers = write.dense and write.low <= low and high <= write.high
                part = write.record.part
                if covers:
                    return part and seen_of(tensor, (low, high), write.low, write.high, write.rows, part)
                if part is not None:
                    return unknown_rows(part.of)
        around = [one for one in cell.labels if one.part is not None and one.low <= low and high <= one.high]
        label = min(around, key=lambda one: one.high - one.low, default=None)
        if label is None or label.part is None:
            return None
        return seen_of(tensor, (low, high), label.low, label.high, label.rows, label.part)

    def write(self, tensor: Tensor, record: OpRecord) -> None:
        """Note a write; writes it hides are forgotten."""
        low, high, dense = extent(tensor)
        cell = self.cell(tensor)
        if dense and cell.writes:
            cell.writes = [w for w in cell.writes if w.low < low or w.high > high]
        cell.writes.append(Write(low, high, dense, record, rows_in(tensor)))

    def writers(self, tensor: Tensor) -> tuple[list[OpRecord], bool]:
        """The records whose writes are visible in a tensor, last first, and whether what was there before can still
        be."""
        low, high, _ = extent(tensor)
        found: list[OpRecord] = []
        for write in reversed(self.cell(tensor).writes):
            if (write.low < high and low < write.high) or low == high:
                found.append(write.record)
                if write.dense and write.low <= low and write.high >= high:
                    return found, False
        return found, True


def seen_of(tensor: Tensor, span: tuple[int, int], low: int, high: int, rows: int, part: HeldRows) -> HeldRows:
    """The rows of the batch that a tensor with these bytes shows of memory that holds `part`."""
    if span == (low, high):
        return part
    return rows_of_memory(tensor, low, high, rows, part) if tensor.layout is torch.strided else unknown_rows(part.of)


def rows_in(tensor: Tensor) -> int:
    """How many rows lie one after another in the memory of a tensor; 0 for none."""
    strided = tensor.layout is torch.strided and not tensor.is_nested and tensor.dim() and tensor.numel()
    return tensor.shape[outermost(tensor)] if strided else 0


def values_of(tensor: Tensor) -> Tensor:
    """The strided tensor that holds the numbers."""
    if tensor.layout is torch.strided:
        return tensor.values() if tensor.is_nested else tensor
    if tensor.layout is torch.jagged:
        return cast(Tensor, tensor._values)  # the buffer itself: values() is an op of the nested tensor
    if tensor.layout is torch.sparse_coo:
        return tensor._values()
    return tensor.values() if tensor.layout is not torch._mkldnn else tensor  # type: ignore[attr-defined]


def extent(tensor: Tensor) -> tuple[int, int, bool]:
    """Return the first byte, the byte after the last, and whether it fills that span."""
    tensor = values_of(tensor)
    try:
        size, start = tensor.element_size(), int(tensor.storage_offset())
    except (RuntimeError, NotImplementedError):
        return 0, tensor.numel(), True
    count = tensor.numel()
    if count == 0:
        return start * size, start * size, False
    span = 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
    return start * size, (start + span) * size, span <= count
