"""Which piece of memory a tensor looks at, and the bytes of those the step did not make itself."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from debugtracer.recorder.capsule.encode import Opaque
from debugtracer.recorder.capsule.recorded import CONJUGATE, NEGATIVE, ZERO, Ref, StorageRow

ALIGN = 64  # an input is kept from a multiple of this byte


@dataclass
class StorageCopy:
    """One storage seen; `data` holds its bytes from row.start on, uint8 on the CPU, as they were before the step wrote
    to them."""

    row: StorageRow
    weak: StorageWeakRef
    made: bool = False
    stop: int = 0
    data: torch.Tensor | None = None


class Storages:
    """Numbers storages in order of appearance and copies those first seen as an argument."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        # weak references: activations are freed as usual, and torch does not give the address out again while one lives
        self.kept: list[StorageCopy] = []
        self.numbers: dict[int, int] = {}
        self.copied = 0  # bytes kept, or that would be without the budget

    def ref(self, tensor: torch.Tensor) -> Ref:
        """The window a tensor is. Raises Opaque on a tensor without a plain storage."""
        check_plain(tensor)
        flags = CONJUGATE * tensor.is_conj() | NEGATIVE * tensor.is_neg() | ZERO * tensor._is_zerotensor()
        dtype = str(tensor.dtype).removeprefix("torch.")
        return Ref(
            self.number(tensor, dtype),
            dtype,
            tuple(tensor.shape),
            tuple(tensor.stride()),
            int(tensor.storage_offset()),
            flags,
        )

    def number(self, tensor: torch.Tensor, dtype: str) -> int:
        """The number of the storage of a tensor, a new one at first sight."""
        storage = tensor.untyped_storage()
        number = self.numbers.get(storage._cdata)
        if number is None:
            number = self.numbers[storage._cdata] = len(self.kept)
            self.kept.append(
                StorageCopy(StorageRow(storage.nbytes(), str(tensor.device), dtype), StorageWeakRef(storage))
            )
        kept = self.kept[number]
        kept.row.nbytes = max(kept.row.nbytes, storage.nbytes())  # resize_ lets it grow
        return number

    def read(self, tensor: torch.Tensor, ref: Ref) -> None:
        """Keep the bytes an op is about to read, if the step did not make them. Host sync for a new CUDA input.

        Only the part that some argument covers is kept: a batch cut from a data set in memory does not bring the data
        set along. Bytes outside of all arguments so far cannot have been written by a recorded op, so the part may grow
        later."""
        kept = self.kept[ref.storage]
        span = bytes_of(ref, tensor.element_size())
        if kept.made or span[0] == span[1] or ref.flags & ZERO:
            return
        old = (kept.row.start, kept.stop) if kept.row.start is not None else None
        start, stop = span[0] - span[0] % ALIGN, span[1]
        if old is not None:
            start, stop = min(start, old[0]), max(stop, old[1])
        if (start, stop) == old:
            return
        self.copied += stop - start - (old[1] - old[0] if old else 0)
        kept.row.start, kept.stop = start, stop
        if self.copied > self.max_bytes:
            self.drop()
            return
        parts = (
            [copy_bytes(tensor, start, old[0]), kept.data, copy_bytes(tensor, old[1], stop)]
            if old
            else [copy_bytes(tensor, start, stop)]
        )
        kept.data = torch.cat([part for part in parts if part is not None])

    def drop(self) -> None:
        """Free the bytes when over the budget and only count from now on, so that the message can say how many there
        are."""
        for kept in self.kept:
            kept.data = None

    def wrote(self, ref: Ref) -> None:
        """Mark the storage of a returned tensor as a result, if nobody read it before."""
        kept = self.kept[ref.storage]
        kept.made = kept.made or kept.row.start is None


def check_plain(tensor: torch.Tensor) -> None:
    """Raise Opaque on sparse, quantized, nested and wrapper tensors."""
    if is_traceable_wrapper_subclass(tensor):
        raise Opaque(f"a tensor of the class {type(tensor).__name__}")
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_nested or tensor.is_mkldnn:
        raise Opaque(f"a tensor of layout {str(tensor.layout).removeprefix('torch.')}")
    if tensor.device.type == "meta":
        raise Opaque("a tensor on the device meta")


def bytes_of(ref: Ref, itemsize: int) -> tuple[int, int]:
    """Return the first and last + 1 byte a window touches; equal when it is empty."""
    if 0 in ref.shape:
        return 0, 0
    last = sum((size - 1) * stride for size, stride in zip(ref.shape, ref.stride, strict=True))
    return ref.offset * itemsize, (ref.offset + last + 1) * itemsize


def copy_bytes(tensor: torch.Tensor, start: int, stop: int) -> torch.Tensor:
    """A CPU copy of some bytes of the storage of a tensor, uint8."""
    whole = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(
        tensor.untyped_storage(), start, (stop - start,), (1,)
    )
    return whole.to("cpu", copy=True)
