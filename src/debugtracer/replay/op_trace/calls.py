"""One op call taken apart: what it reads, what it writes, and one group per tensor for the list ops of optimizers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload

from debugtracer.replay.op_trace.classes import tensors

OVERWRITES = {
    "copy_", "fill_", "zero_", "normal_", "uniform_", "random_", "bernoulli_", "exponential_", "log_normal_",
    "geometric_", "cauchy_", "set_", "resize_", "resize_as_", "eye_",
    "_foreach_copy_", "_foreach_zero_", "arange_",
}  # fmt: skip
PARTLY = {
    "index_put_",
    "_index_put_impl_",
    "scatter_",
    "masked_fill_",
    "masked_scatter_",
    "index_copy_",
    "index_fill_",
    "select_scatter",
    "slice_scatter",
    "index_put",
    "scatter",
}
EMPTY = {
    "empty",
    "empty_like",
    "empty_strided",
    "new_empty",
    "new_empty_strided",
    "empty_permuted",
    "resize_",
    "resize_as_",
    "_empty_affine_quantized",
    "empty_quantized",
}
# written in place although the schema of the op does not say so (torch 2.13)
UNDECLARED = {
    "native_batch_norm": ("running_mean", "running_var"),
    "cudnn_batch_norm": ("running_mean", "running_var"),
    "miopen_batch_norm": ("running_mean", "running_var"),
}
FILLS = {
    "fill", "masked_fill", "index_fill", "full", "full_like", "new_full", "scalar_tensor", "nan_to_num", "lift_fresh",
    "constant_pad_nd",
}  # fmt: skip
CALCULATES = {
    "mul", "multiply", "div", "divide", "true_divide", "add", "sub", "subtract", "rsub", "pow", "addcmul", "addcdiv",
    "lerp",
}  # fmt: skip
VIEWS = {"lift_fresh", "detach", "alias", "view", "_unsafe_view"}


@dataclass(eq=False)
class Shape:
    """What the schema says of an op; cached."""

    name: str
    names: list[str]
    mutable: list[str]
    changed: list[str]
    """What must be copied before the op to know what it read: all of `mutable`, and what it writes undeclared."""
    out: list[str]
    overwrites: bool
    partly: bool
    empty: bool
    pointwise: bool
    lists: bool


@dataclass
class OpRead:
    """A tensor that an op read: as it is now (for its place in memory) and as it was before the op."""

    name: str
    tensor: Tensor
    before: Tensor
    written: bool = False


@dataclass
class Group:
    """The reads and results that belong together: all of an ordinary op, or those of one tensor of a list op."""

    reads: list[OpRead] = field(default_factory=list)
    outs: list[Tensor] = field(default_factory=list)
    written: list[Tensor] = field(default_factory=list)


_shapes: dict[OpOverload, Shape] = {}


def shape_of(func: OpOverload) -> Shape:
    """Look up the shape of an op: which arguments it reads, writes and lists."""
    known = _shapes.get(func)
    if known is None:
        arguments = func._schema.arguments
        packet = func._schema.name.split("::")[-1]
        mutable = [a.name for a in arguments if a.alias_info is not None and a.alias_info.is_write]
        out = [a.name for a in arguments if a.is_out]
        lists = packet.startswith(("_foreach_", "_fused_", "_amp_foreach"))
        known = _shapes[func] = Shape(
            packet,
            [a.name for a in arguments],
            mutable,
            [*mutable, *UNDECLARED.get(packet, ())],
            out,
            packet in OVERWRITES,
            packet in PARTLY,
            packet in EMPTY,
            torch.Tag.pointwise in func.tags or lists,
            lists,
        )
    return known


def named(shape: Shape, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
    """Pair the arguments with their schema names."""
    return [*zip(shape.names, args, strict=False), *kwargs.items()]


def groups(
    shape: Shape, args: tuple[Any, ...], kwargs: dict[str, Any], out: object, saved: dict[int, Tensor]
) -> list[Group]:
    """The groups of a call; `saved` maps id(tensor) to its copy from before the op."""
    values = named(shape, args, kwargs)
    lists = [v for _, v in values if isinstance(v, (list, tuple)) and v and isinstance(v[0], Tensor)]
    count = len(lists[0]) if shape.lists and lists else 0
    if not count:
        return [group_of(shape, values, out, saved)]
    found = []
    for k in range(count):
        part = [(n, v[k] if isinstance(v, (list, tuple)) and len(v) == count else v) for n, v in values]
        results = out[k] if isinstance(out, (list, tuple)) and len(out) == count else None
        found.append(group_of(shape, part, results, saved))
    return found


def group_of(shape: Shape, values: list[tuple[str, Any]], out: object, saved: dict[int, Tensor]) -> Group:
    """Split one group into reads (not what is only overwritten) and results (also what was written in place)."""
    group = Group()
    for name, value in values:
        writes = name in shape.mutable
        for tensor in tensors(value):
            if writes:
                group.written.append(tensor)
            if not (writes and (shape.overwrites or name in shape.out)):
                group.reads.append(OpRead(name, tensor, saved.get(id(tensor), tensor), writes))
    seen = {id(t) for t in group.written}
    group.outs = [*group.written, *(t for t in tensors(out) if id(t) not in seen)]
    return group


def constant(shape: Shape, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """True if a Python number among the arguments is infinite: an infinity on purpose."""
    return any(isinstance(v, float) and math.isinf(v) for _, v in named(shape, args, kwargs))


def nonfinite_number(shape: Shape, args: tuple[Any, ...], kwargs: dict[str, Any]) -> float | None:
    """The first Python number among the arguments that no op takes on purpose: NaN where none is to be written, Inf
    where one calculates with it; None without one."""
    for _, value in named(shape, args, kwargs):
        if not isinstance(value, float) or math.isfinite(value) or shape.name.rstrip("_") in FILLS:
            continue
        if math.isnan(value) or shape.name.rstrip("_") in CALCULATES:
            return value
    return None
