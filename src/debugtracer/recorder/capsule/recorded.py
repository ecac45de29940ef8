"""The recorded program as a value: the rows of `program.json.gz`, tensors addressed by storage."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

import msgspec
import torch

from debugtracer.trace.birth import Direction, Frame
from debugtracer.trace.op import OpMeta

CONJUGATE, NEGATIVE, ZERO = 1, 2, 4  # bits of Ref.flags: lazy conjugate, lazy negation, a tensor without memory


class StorageRow(msgspec.Struct, array_like=True):
    """One piece of memory. `start` is the first byte kept of an input (None: it is the result of an op); `dtype` the
    one it was first used with."""

    nbytes: int
    device: str
    dtype: str
    start: int | None = None


class Ref(msgspec.Struct, array_like=True, frozen=True):
    """A tensor as a window on a storage; stride and offset in elements."""

    storage: int
    dtype: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    flags: int = 0


class GeneratorRow(msgspec.Struct, array_like=True, frozen=True):
    """A random generator: the default one of its device, or one of the user's own."""

    device: str
    own: bool = False


class Place(msgspec.Struct, array_like=True, frozen=True):
    """The whereabouts that many ops share; `frames` are indices into Recorded.frames, innermost first."""

    direction: Direction
    forward_op: str | None
    node: str | None
    module: str | None
    frames: tuple[int, ...]
    entry: int | None
    library: int | None = None


class OpRow(msgspec.Struct, array_like=True):
    """One op: name, encoded arguments, refs of its results, place, index in the traced step."""

    op: int
    args: list[Any]
    kwargs: dict[str, Any]
    outs: list[int | None]
    place: int = 0
    index: int = 0
    grad: bool = False
    """Grad mode: some kernels keep a workspace for the backward only under it (mkldnn_rnn_layer)."""
    states: list[tuple[int, int]] = []
    """(generator, blob `state/N`) to restore before it runs; only where the state is not the one the last op left."""
    given: list[tuple[int, int]] = []
    """(ref, blob `given/N`) of a collective: its results are inputs of the replay, the op itself does not run."""


class TargetRow(msgspec.Struct, array_like=True):
    """A tensor to compare, as it was before op number `at` of Recorded.ops; values at most 4096 evenly taken lie in
    blob `target/N`."""

    name: str
    ref: int
    at: int
    sha256: str


class Recorded(msgspec.Struct, kw_only=True):
    """A traced step as a list of aten ops."""

    names: list[str] = []
    """`namespace::op.overload`."""
    storages: list[StorageRow] = []
    refs: list[Ref] = []
    ops: list[OpRow] = []
    places: list[Place] = []
    frames: list[Frame] = []
    generators: list[GeneratorRow] = []
    targets: list[TargetRow] = []
    labels: list[tuple[str, int]] = []
    """(name, ref) of the inputs that have one: `batch[0]`, `parameter head.weight`, `buffer bn.running_var`."""

    def check(self) -> None:
        """Raise ValueError unless every number points at something and every tensor is one that could be."""
        inside: list[tuple[int, Sized]] = [(ref.storage, self.storages) for ref in self.refs]
        inside += [(ref, self.refs) for target in self.targets for ref in (target.ref,)] + [
            (ref, self.refs) for _, ref in self.labels
        ]
        inside += [(frame, self.frames) for place in self.places for frame in place.frames]
        inside += [(place.library, self.frames) for place in self.places if place.library is not None]
        for row in self.ops:
            inside += [
                (row.op, self.names),
                (row.place, self.places),
                *((out, self.refs) for out in row.outs if out is not None),
            ]
            inside += [
                *((generator, self.generators) for generator, _ in row.states),
                *((ref, self.refs) for ref, _ in row.given),
            ]
        for dtype in {row.dtype for row in self.refs} | {row.dtype for row in self.storages}:
            if not isinstance(getattr(torch, dtype, None), torch.dtype):
                raise ValueError(f"{dtype} is no dtype")
        for ref in self.refs:
            if len(ref.shape) != len(ref.stride) or min((*ref.shape, *ref.stride, ref.offset, ref.flags)) < 0:
                raise ValueError(f"a tensor of shape {ref.shape} has strides {ref.stride} and offset {ref.offset}")
        for number, among in inside:
            if not 0 <= number < len(among):
                raise ValueError(f"number {number} points at nothing")

    def meta(self, row: OpRow) -> OpMeta:
        """The whereabouts of one op, as the tracer gave them."""
        name, _, overload = self.names[row.op].partition(".")
        place = self.places[row.place]
        frames = tuple(self.frames[i] for i in place.frames)
        return OpMeta(
            index=row.index,
            op=name,
            overload=overload,
            direction=place.direction,
            forward_op=place.forward_op,
            node=place.node,
            module=place.module,
            frames=frames,
            library=self.frames[place.library] if place.library is not None else None,
            entry=place.entry,
        )
