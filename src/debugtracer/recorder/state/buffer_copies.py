"""Copies of all buffers of some modules, and which buffer stood under which name."""

from __future__ import annotations

import weakref
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
        self.pairs: list[tuple[weakref.ref[nn.Module], list[tuple[Tensor, Tensor]]]] = []
        """Modules with their buffers and the values of these."""
        self.places = AttributeCopy([])

    def take(self, modules: Iterable[nn.Module], on_host: bool) -> None:
        """Copy what can be copied, into the memory of last time where the buffers are the same."""
        live = [(module, list(module.buffers())) for module in modules]
        flat = [buffer for _, buffers in live for buffer in buffers]
        known = [pair for _, pairs in self.pairs for pair in pairs]
        copies: list[Tensor | None] = [copy for _, copy in known]
        if not identical(flat, [buffer for buffer, _ in known]) or not all(map(alike, flat, copies)):
            copies = [copied(buffer, on_host) for buffer in flat]
        elif flat:
            renew([c for c in copies if c is not None], flat, lambda to, of: fill(to, of, on_host))
        made = iter(copies)
        self.pairs = [
            (weakref.ref(m), [(b, c) for b in buffers if (c := next(made)) is not None]) for m, buffers in live
        ]
        self.places = AttributeCopy([place for m, _ in live for place in buffer_names(m)])

    def restore(self) -> None:
        """Put the values back, in place."""
        for _, pairs in self.pairs:
            for buffer, value in pairs:
                put(buffer, value)

    def values(self) -> list[Tensor]:
        """The copies, one for each buffer that can be copied."""
        return [value for _, pairs in self.pairs for _, value in pairs]

    @property
    def nbytes(self) -> int:
        """The bytes that they hold."""
        return sum(map(held_bytes, self.values()))


def copied(buffer: Tensor, on_host: bool) -> Tensor | None:
    """A new copy; one that is not dense stays beside its buffer. None where torch makes none."""
    return host_copy(buffer.detach()) if on_host and is_plain(buffer) else value_of(buffer)


def alike(buffer: Tensor, copy: Tensor | None) -> bool:
    """Whether a value fits into the copy of before."""
    if copy is None or is_plain(buffer) != is_plain(copy):
        return False
    return buffer.layout is torch.sparse_coo or (is_plain(buffer) and SHAPE(buffer) == SHAPE(copy))
