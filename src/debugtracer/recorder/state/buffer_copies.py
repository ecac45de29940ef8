"""Copies of all buffers of some modules, and which buffer stood under which name."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from debugtracer.recorder.state.attributes import AttributeCopy, buffer_names
from debugtracer.recorder.state.buffer_values import is_plain, put, renew, value_of
from debugtracer.recorder.state.copies import SHAPE, fill, identical
from debugtracer.recorder.state.held_bytes import held_bytes
from debugtracer.recorder.state.host_copy import host_copy


class BufferCopies:
    """Of one snapshot, which takes them again and again."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Tensor, Tensor]] = []
        """Buffers and their values; one that torch does not copy is missing, and then all are copied anew."""
        self.places = AttributeCopy([])

    def take(self, modules: Iterable[nn.Module], on_host: bool) -> None:
        """Copy what can be copied, into the memory of last time where the buffers are the same."""
        live = list(modules)
        buffers = [buffer for module in live for buffer in module.buffers()]
        copies = self.values()
        if not identical(buffers, [buffer for buffer, _ in self.pairs]) or not all(map(alike, buffers, copies)):
            self.pairs = [(b, c) for b in buffers if (c := copied(b, on_host)) is not None]
        elif buffers:
            renew(copies, buffers, lambda to, of: fill(to, of, on_host))
        self.places = AttributeCopy([place for module in live for place in buffer_names(module)])

    def restore(self) -> None:
        """Put the values back, in place."""
        for buffer, value in self.pairs:
            put(buffer, value)

    def values(self) -> list[Tensor]:
        """The copies, one for each buffer that can be copied."""
        return [value for _, value in self.pairs]

    @property
    def nbytes(self) -> int:
        """The bytes that they hold."""
        return sum(map(held_bytes, self.values()))


def copied(buffer: Tensor, on_host: bool) -> Tensor | None:
    """A new copy; one that is not dense stays beside its buffer. None where torch makes none."""
    return host_copy(buffer.detach()) if on_host and is_plain(buffer) else value_of(buffer)


def alike(buffer: Tensor, copy: Tensor) -> bool:
    """Whether a value fits into the copy of before."""
    if is_plain(buffer) != is_plain(copy):
        return False
    return buffer.layout is torch.sparse_coo or (is_plain(buffer) and SHAPE(buffer) == SHAPE(copy))
