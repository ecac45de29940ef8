"""Which op wrote what is in a tensor: records of ops, and per storage the writes that are still there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef

from debugtracer.recorder.tape.held_rows import HeldRows, outermost, rows_of_memory, unknown_rows
from debugtracer.trace.birth import EmptyGroup, TensorFacts
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
    group: EmptyGroup | None = None
    """The empty group that a division by 0 is of."""
    param: str | None = None
    number: float | None = None
    """A number of the program that made it bad: it is not finite, and all that it read is."""
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
class Lines:
    """Bytes [low, high) in which `rows` lines lie one after another, by the outermost dimension of a tensor."""

    low: int
    high: int
    dense: bool
    """Nothing else lies between."""
    rows: int
    """0 where they cannot be told."""
    step: int
    """Bytes from the beginning of one to that of the next."""

    def meets(self, other: Lines) -> bool:
        """Whether they share a byte."""
        return self.low < other.high and other.low < self.high

    def beside(self, other: Lines) -> bool:
        """Whether line i of one lies within the same stretch of memory as line i of the other."""
        return self.rows == other.rows > 0 and self.step == other.step > abs(self.low - other.low)

    def seen_by(self, tensor: Tensor, part: HeldRows) -> HeldRows:
        """The rows of a batch that a tensor in these bytes shows, where they hold `part`."""
        seen = lines_of(tensor)
        if (seen.low, seen.high) == (self.low, self.high) or (not self.dense and self.beside(seen)):
            return part
        if not self.dense or tensor.layout is not torch.strided:
            return unknown_rows(part.of)
        return rows_of_memory(tensor, self.low, self.high, self.rows, part)


@dataclass
class Write(Lines):
    """One write into a storage, by whom, and whether it left a bad value."""

    record: OpRecord


@dataclass
class Label(Lines):
    """Bytes with a name; of a batch also the rows in them."""

    name: str
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
        lines = lines_of(tensor)
        labels = self.cell(tensor).labels
        if all((lines.low, lines.high) != (label.low, label.high) for label in labels):
            labels.append(Label(**vars(lines), name=name, part=part))

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
        """Which rows of a batch are in a tensor: as the writes say that filled its bytes, else as the narrowest label
        around them does."""
        lines, cell = lines_of(tensor), self.cell(tensor)
        above: list[HeldRows] = []
        for write in reversed(cell.writes):
            part = write.record.part
            if not write.meets(lines):
                continue
            if write.low <= lines.low and lines.high <= write.high and (write.dense or write.beside(lines)):
                return agreed(above, write.seen_by(tensor, part) if part is not None else None)
            if part is not None:  # some of its bytes alone
                above.append(part if write.beside(lines) and not part.turned else unknown_rows(part.of))
        around = [one for one in cell.labels if one.low <= lines.low and lines.high <= one.high]
        label = min((one for one in around if one.part is not None), key=lambda one: one.high - one.low, default=None)
        below = label.seen_by(tensor, label.part) if label is not None and label.part is not None else None
        return agreed(above, below)

    def write(self, tensor: Tensor, record: OpRecord) -> None:
        """Note a write; writes it hides are forgotten."""
        lines, cell = lines_of(tensor), self.cell(tensor)
        if lines.dense and cell.writes:
            cell.writes = [w for w in cell.writes if w.low < lines.low or w.high > lines.high]
        cell.writes.append(Write(**vars(lines), record=record))

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


def agreed(above: list[HeldRows], below: HeldRows | None) -> HeldRows | None:
    """The rows in bytes of which some were written again: where all say the same."""
    parts = above if below is None else [*above, below]
    if not parts:
        return None
    return parts[-1] if all(part == parts[-1] for part in parts) else unknown_rows(parts[-1].of)


def lines_of(tensor: Tensor) -> Lines:
    """The lines that a tensor lies in."""
    strided = tensor.layout is torch.strided and not tensor.is_nested and tensor.dim() and tensor.numel()
    outer = outermost(tensor) if strided else 0
    rows, step = (tensor.shape[outer], tensor.stride(outer) * tensor.element_size()) if strided else (0, 0)
    return Lines(*extent(tensor), rows, step)


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
