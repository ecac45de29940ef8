"""The memory of an offline replay: storages by number, every window checked against its storage before it is opened."""

from __future__ import annotations

import torch

from debugtracer.devices.present import place
from debugtracer.errors import CapsuleError
from debugtracer.recorder.capsule.capsule import Capsule
from debugtracer.recorder.capsule.encode import dtype_named
from debugtracer.recorder.capsule.generators import default_generator
from debugtracer.recorder.capsule.recorded import CONJUGATE, NEGATIVE, ZERO, Ref
from debugtracer.recorder.capsule.storages import bytes_of

COMPLEX = {
    torch.float64: torch.complex128,
    torch.float32: torch.complex64,
    torch.bfloat16: torch.complex64,
    torch.float16: torch.complex64,
}


class ReplayMemory:
    """Binds storages to live memory; maps floating dtypes to `working` and devices to `device`. It is the Decoder of
    recorder/encode."""

    def __init__(self, capsule: Capsule, working: torch.dtype | None, device: torch.device) -> None:
        self.capsule, self.program = capsule, capsule.program
        self.working, self.place = working, device
        self.storages: dict[int, torch.UntypedStorage] = {}
        self.views: dict[int, dict[Ref, torch.Tensor]] = {}
        self.generators: dict[int, torch.Generator] = {}

    def tensor(self, ref: int) -> torch.Tensor:
        """The tensor of a ref, the same object as long as its storage is bound. Raises CapsuleError on a window outside
        of its storage."""
        if not 0 <= ref < len(self.program.refs):
            raise IndexError(ref)
        window = self.program.refs[ref]
        known = self.views.get(window.storage, {}).get(window)
        if known is not None:
            return known
        try:
            return self.open(window)
        except (RuntimeError, ValueError, TypeError) as error:  # no memory, sizes out of range, no such dtype
            raise CapsuleError(
                f"{self.capsule.folder} cannot be replayed: a tensor of shape {window.shape} cannot be made "
                f"({str(error)[:160]})"
            ) from None

    def has_bytes(self, ref: int) -> bool:
        """Whether the bytes of an input were kept: the step has read all of it."""
        window = self.program.refs[ref]
        row, blob = self.program.storages[window.storage], self.capsule.blobs.get(f"storage/{window.storage}")
        if row.start is None or blob is None:
            return False
        start, stop = bytes_of(window, dtype_named(window.dtype).itemsize)
        return row.start <= start and stop <= row.start + blob.numel()

    def open(self, window: Ref) -> torch.Tensor:
        """A new tensor over a bound storage."""
        dtype = self.dtype(dtype_named(window.dtype))
        if window.flags & ZERO:
            return torch._efficientzerotensor(window.shape, dtype=dtype, device=self.place)
        if window.storage not in self.storages:
            self.bind(window.storage, self.input(window.storage))
        storage = self.storages[window.storage]
        check_window(window, dtype, storage)
        tensor = torch.empty(0, dtype=dtype, device=storage.device).set_(
            storage, window.offset, window.shape, window.stride
        )
        if window.flags & CONJUGATE:
            tensor = torch._conj(tensor)
        if window.flags & NEGATIVE:
            tensor = torch._neg_view(tensor)
        self.views[window.storage][window] = tensor
        return tensor

    def input(self, number: int) -> torch.UntypedStorage:
        """Allocate fresh memory with the bytes of an input; what no argument covered stays uninitialised."""
        row, blob = self.program.storages[number], self.capsule.blobs.get(f"storage/{number}")
        source = dtype_named(row.dtype)
        target = self.dtype(source)
        start = row.start or 0
        data = torch.empty(0, dtype=torch.uint8) if blob is None else blob
        if (
            data.dtype != torch.uint8
            or data.dim() != 1
            or start < 0
            or start + data.numel() > row.nbytes
            or start % source.itemsize
        ):
            raise CapsuleError(
                f"{self.capsule.folder} is damaged: input {number} does not fit its {row.nbytes:,} bytes; make the "
                "incident again"
            )
        if target != source:
            data = data[: data.numel() - data.numel() % source.itemsize].view(source).to(target).view(torch.uint8)
        nbytes, start = (size // source.itemsize * target.itemsize for size in (row.nbytes, start))
        whole = torch.empty(nbytes, dtype=torch.uint8, device=self.place)
        whole[start : start + data.numel()] = data.to(self.place)
        return whole.untyped_storage()

    def bind(self, number: int, storage: torch.UntypedStorage) -> None:
        """Give a storage number its memory; views of former memory are forgotten."""
        if number not in self.storages or self.storages[number]._cdata != storage._cdata:
            self.storages[number], self.views[number] = storage, {}

    def result(self, ref: int, tensor: torch.Tensor) -> None:
        """Bind the storage of an op's result; a result laid out otherwise than recorded (another device or dtype) is
        copied into that layout."""
        window = self.program.refs[ref]
        if window.flags & ZERO:
            return
        if tuple(tensor.shape) != window.shape:
            raise CapsuleError(
                f"the replay left the recorded step: a result has shape {tuple(tensor.shape)}, recorded was "
                f"{window.shape}"
            )
        dtype = self.dtype(dtype_named(window.dtype))
        layout = (tuple(tensor.stride()), tensor.storage_offset(), tensor.dtype)
        if layout != (window.stride, window.offset, dtype) and window.storage not in self.storages:
            tensor = self.laid_out(tensor.to(dtype), window)
        self.bind(window.storage, tensor.untyped_storage())
        if tensor.dtype == dtype:
            self.views[window.storage].setdefault(window, tensor)

    def laid_out(self, tensor: torch.Tensor, window: Ref) -> torch.Tensor:
        """A copy of a tensor with the recorded strides and offset."""
        nbytes = (
            self.program.storages[window.storage].nbytes * tensor.element_size() // dtype_named(window.dtype).itemsize
        )
        try:
            fresh = torch.empty(nbytes, dtype=torch.uint8, device=tensor.device).untyped_storage()
            check_window(window, tensor.dtype, fresh)
            return (
                torch.empty(0, dtype=tensor.dtype, device=tensor.device)
                .set_(fresh, window.offset, window.shape, window.stride)
                .copy_(tensor)
            )
        except RuntimeError as error:  # no memory, or strides that overlap
            raise CapsuleError(
                f"{self.capsule.folder} cannot be replayed: a result of shape {window.shape} cannot be laid out "
                f"({str(error)[:160]})"
            ) from None

    def reset(self, number: int) -> None:
        """Free a storage that no later op uses."""
        self.storages.pop(number, None)
        self.views.pop(number, None)

    def generator(self, number: int) -> torch.Generator:
        """The generator of a number on the device of the replay."""
        if not 0 <= number < len(self.program.generators):
            raise IndexError(number)
        row = self.program.generators[number]
        if number not in self.generators:
            device = self.device(place(row.device))
            self.generators[number] = torch.Generator(device) if row.own else default_generator(device)
        return self.generators[number]

    def dtype(self, dtype: torch.dtype) -> torch.dtype:
        """The dtype used in place of the recorded one."""
        if self.working is None or not (dtype.is_floating_point or dtype.is_complex):
            return dtype
        return COMPLEX[self.working] if dtype.is_complex else self.working

    def device(self, device: torch.device) -> torch.device:
        """The device used in place of the recorded one: always that of the replay."""
        return self.place


def check_window(window: Ref, dtype: torch.dtype, storage: torch.UntypedStorage) -> None:
    """Raise CapsuleError unless every element of the window lies inside the storage."""
    sizes = (*window.shape, *window.stride, window.offset)
    if (
        any(not 0 <= size < 2**62 for size in sizes)
        or len(window.shape) != len(window.stride)
        or bytes_of(window, dtype.itemsize)[1] > storage.nbytes()
    ):
        raise CapsuleError(
            f"the program of this capsule is damaged: a tensor of shape {window.shape} reaches outside of its "
            f"{storage.nbytes():,} bytes"
        )
