"""The same numbers by two kernels of Triton, whatever the number of tensors: one launch for each dtype and one more."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias, TypeVar

import torch
from torch import Tensor

from debugtracer.devices.present import device
from debugtracer.errors import swallow
from debugtracer.recorder.gate.device_numbers import DeviceNumbers, Judged
from debugtracer.recorder.gate.norms import grouped

K = TypeVar("K")
V = TypeVar("V")
Sizes: TypeAlias = tuple[torch.device, tuple[int, ...]]
"""A list of tensors by its device and how many elements each has."""
KINDS = frozenset({"cuda"})  # torch.device.type of the devices that Triton compiles for, ROCm's among them
TABLES = 8  # lists of tensors whose chunks are remembered (ours)
ALIGNMENT = 16  # bytes that a wide load needs


class Chunks(NamedTuple):
    """The chunks of a list of tensors, on their device, int64 each: tensor, first element, count of elements."""

    owners: Tensor
    offsets: Tensor
    counts: Tensor


class TritonNumbers(DeviceNumbers):
    """One per process. No host sync; a list whose tensors lie where they lay costs no copy either."""

    def __init__(self, kinds: Iterable[str] = KINDS) -> None:
        self.kinds = frozenset(kinds)
        self.chunks: dict[Sizes, Chunks] = {}
        self.addresses: dict[Sizes, tuple[tuple[int, ...], Tensor]] = {}
        self.off = False
        """A kernel could not be launched: stock operators from here on."""

    @property
    def judges_at_once(self) -> bool:
        """Whether the kernels can be launched."""
        return not self.off

    def exact_norms(self, gradients: list[Tensor]) -> tuple[list[Tensor], list[Tensor]] | None:
        """Return the L2 over all of them alone, which is finite where every value is; what torch's operators tell
        where no kernel reads them."""
        found = self.measured(gradients, [], None)
        return super().exact_norms(gradients) if found is None else ([found.numbers[0]], [])

    def each(self, tensors: list[Tensor]) -> list[Tensor] | None:
        """Return the L2 over all of them (0-dim, float64) alone."""
        found = self.measured(tensors, [], None)
        return super().each(tensors) if found is None else [found.numbers[0]]

    def l2(self, tensors: list[Tensor]) -> Tensor | None:
        """The L2 norm over all of them; the largest magnitude where squares overflow and every value is finite."""
        found = self.measured(tensors, [], None)
        return super().l2(tensors) if found is None else found.numbers[0]

    def judged(
        self, gradients: list[Tensor], losses: list[Tensor], param_l2: Tensor | None, exact: bool
    ) -> Judged | None:
        """Judge gradients and losses; always exact, which costs nothing more here."""
        found = self.measured(gradients, losses, param_l2)
        return super().judged(gradients, losses, param_l2, exact) if found is None else found

    def measured(self, tensors: list[Tensor], losses: list[Tensor], param_l2: Tensor | None) -> Judged | None:
        """Measure by the kernels; None for tensors that they do not read, and once they have failed."""
        if self.off:
            return None
        with torch.no_grad():
            groups = [group for group in grouped(tensors) if any(t.numel() for t in group)]
            places = {t.device for group in groups for t in group}
            if len(places) != 1 or (place := places.pop()).type not in self.kinds:
                return None
            try:
                with on(place):
                    return self.launched(place, groups, losses, param_l2)
            except Exception as error:  # no compiler, another version of Triton
                self.off = True
                swallow("recorder.gate.triton_numbers", error)
                return None

    def launched(
        self, place: torch.device, groups: list[list[Tensor]], losses: list[Tensor], param_l2: Tensor | None
    ) -> Judged:
        """Run a kernel for each dtype, then the one that decides."""
        from debugtracer.recorder.gate import triton_kernels as kernels

        packed = [[t if is_packed(t) else t.contiguous() for t in group if t.numel()] for group in groups]
        tables = [self.chunks_of(place, group, kernels.CHUNK) for group in packed]
        total = sum(len(table.owners) for table in tables)
        squares, largest = torch.empty((2, total), dtype=torch.float64, device=place)
        bad = torch.empty(total, dtype=torch.int32, device=place)
        base = 0
        for group, table in zip(packed, tables, strict=True):
            kind, sums = types_of(group[0].dtype)
            pointers = self.pointers_of(place, group)
            kernels.measure[(len(table.owners),)](
                pointers, *table, squares, largest, bad, base, KIND=kind, SUM=sums, CHUNK=kernels.CHUNK,
                BLOCK=kernels.BLOCK, ALIGNED=all(t.data_ptr() % ALIGNMENT == 0 for t in group),
            )  # fmt: skip
            base += len(table.owners)
        numbers = torch.empty(3 + len(losses), dtype=torch.float64, device=place)
        flag = torch.empty((), dtype=torch.float32, device=place)
        given = torch.stack([loss.to(place) for loss in losses]) if losses else numbers
        beside = torch.zeros((), dtype=torch.float64, device=place) if param_l2 is None else param_l2.to(place)
        kernels.judge[(1,)](
            squares, largest, bad, total, given, len(losses), beside, numbers, flag, BLOCK=kernels.BLOCK
        )
        return Judged(numbers, flag)

    def chunks_of(self, place: torch.device, group: list[Tensor], size: int) -> Chunks:
        """The chunks of tensors of these sizes; remembered, since they hardly ever change."""
        sizes = tuple(t.numel() for t in group)
        known = self.chunks.get((place, sizes))
        if known is None:
            numels = torch.tensor(sizes)
            each = (numels + size - 1) // size
            owners = torch.repeat_interleave(torch.arange(len(sizes)), each)
            first = torch.repeat_interleave(each.cumsum(0) - each, each)
            offsets = (torch.arange(len(owners)) - first) * size
            counts = (numels[owners] - offsets).clamp_max(size)
            known = Chunks(*(part.to(place) for part in (owners, offsets, counts)))
            remember(self.chunks, (place, sizes), known)
        return known

    def pointers_of(self, place: torch.device, group: list[Tensor]) -> Tensor:
        """The addresses of these tensors, on their device; those of the last time where nothing has moved."""
        addresses = tuple(t.data_ptr() for t in group)
        key = place, tuple(t.numel() for t in group)
        known = self.addresses.get(key)
        if known is None or known[0] != addresses:
            pinned = torch.tensor(addresses, dtype=torch.int64, pin_memory=place.type in KINDS)
            known = addresses, pinned.to(place, non_blocking=True)
            remember(self.addresses, key, known)
        return known[1]


def is_packed(tensor: Tensor) -> bool:
    """Whether its values fill one block of memory, in whatever order."""
    return tensor.is_contiguous() or (
        tensor.dim() in (4, 5)
        and tensor.is_contiguous(memory_format=torch.channels_last if tensor.dim() == 4 else torch.channels_last_3d)
    )


def types_of(dtype: torch.dtype) -> tuple[Any, Any]:
    """Return what Triton calls the dtype that is read and that of the sums."""
    import triton.language as tl

    read = {
        torch.float32: tl.float32,
        torch.float16: tl.float16,
        torch.bfloat16: tl.bfloat16,
        torch.float64: tl.float64,
    }
    return read[dtype], tl.float64 if dtype == torch.float64 else tl.float32


def remember(kept: dict[K, V], key: K, value: V) -> None:
    """Keep a value; the oldest goes when there are too many."""
    if len(kept) >= TABLES:
        kept.pop(next(iter(kept)))
    kept[key] = value


@contextlib.contextmanager
def on(place: torch.device) -> Iterator[None]:
    """Give a context that launches on this device, which need not be the current one."""
    guard = getattr(device(place.type).module, "device", None)
    with guard(place) if guard is not None else contextlib.nullcontext():
        yield
