"""Reads from the graph of a loss which inputs of its layers are 0 everywhere, and whether what made them can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from debugtracer.observers.numerics.even_sample import strided

# by node: the argument that it keeps, and which of its edges leads to what made it (None: to nothing)
KEPT: dict[str, tuple[str, int | None]] = {
    "AddmmBackward0": ("mat1", 1),
    "MmBackward0": ("self", 0),
    "BmmBackward0": ("self", 0),
    "LinearBackward0": ("input", 0),
    "ConvolutionBackward0": ("input", 0),
    "NativeLayerNormBackward0": ("input", 0),
    "NativeBatchNormBackward0": ("input", 0),
    "EmbeddingBackward0": ("indices", None),
    "NllLossBackward0": ("target", None),
    "NllLoss2DBackward0": ("target", None),
    "MseLossBackward0": ("target", 1),
}
# nodes whose values are 0 where those of what they are made of are, and only there
PASSING = (
    "View", "UnsafeView", "ReshapeAlias", "Transpose", "T", "Permute", "Unsqueeze", "Squeeze", "Stack", "Cat", "Clone",
    "ToCopy", "Expand", "Slice", "Select", "Unbind", "Split", "Alias",
)  # fmt: skip
# nodes whose values are all 0 by no input that is met: a sum of products with a bias, a curve, a norm with a bias
FULL = ("Addmm", "Linear", "Convolution", "Tanh", "Sigmoid", "Gelu", "NativeLayerNorm", "NativeBatchNorm", "Softmax")
SUMS = ("Add",)
DEEP = 12  # nodes back to what made a tensor (ours)
NODES = 4000  # nodes of a graph that are walked (ours)
LEAST, MOST = 16, 1 << 24  # elements of a tensor that is read (ours): a few zeros are no loss
SAMPLE = 64  # of them that are read at first (ours)
FEWEST = 256  # elements of what a model computed that are not all 0 by chance (ours)


class ZeroInput(NamedTuple):
    """A tensor that a node keeps, all of it 0."""

    key: tuple[str, int]
    """The kind of the node, and its place among those of its kind on the way back from the loss."""
    node: Any
    tensor: Tensor
    made_by: Any
    """The node that made it; None for one without a graph."""


def zero_inputs(loss: Tensor) -> list[ZeroInput]:
    """Find them, the last before the loss first. Reads values: on a device it would wait."""
    found: list[ZeroInput] = []
    counts: Counter[str] = Counter()
    for node in walked(loss):
        kind = node.name()
        if kind not in KEPT:
            continue
        key = (kind, counts[kind])
        counts[kind] += 1
        name, edge = KEPT[kind]
        held = kept_by(node, name)
        if held is not None and is_zero(held):
            made_by = node.next_functions[edge][0] if edge is not None else None
            found.append(ZeroInput(key, node, held, made_by))
    return found


def walked(loss: Tensor) -> Iterator[Any]:
    """The nodes of a graph in one order, which is the same for the same graph."""
    stack: list[Any] = [loss.grad_fn]
    seen: set[Any] = set()
    while stack and len(seen) < NODES:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        yield node
        stack.extend(before for before, _ in reversed(node.next_functions))


def kept_by(node: Any, name: str) -> Tensor | None:
    """The tensor that a node keeps by a name; None where it was freed, was written since, or is made again when it is
    asked for (a checkpoint, an offload)."""
    try:
        raw = getattr(node, f"_raw_saved_{name}", None)
        if raw is None or getattr(raw, "unpack_hook", None) is not None:
            return None
        held = getattr(node, f"_saved_{name}", None)
    except RuntimeError:
        return None
    plain = isinstance(held, Tensor) and held.layout is torch.strided and not held.is_nested and not held.is_quantized
    return held.detach() if plain and held is not None and LEAST <= held.numel() <= MOST else None


def is_zero(tensor: Tensor) -> bool:
    """Whether all of it is 0; a few of its elements say no as a rule."""
    if tensor.device.type != "cpu":
        return False
    flat = tensor.reshape(-1) if tensor.is_contiguous() else tensor.flatten()
    return not bool(strided(flat, SAMPLE).any()) and not bool(tensor.any())


def cannot_vanish(node: Any, deep: int = DEEP) -> bool:
    """Whether what a node gives is not 0 everywhere, whatever it was given: a bias, a curve that is 0 at one point
    alone, or a sum with one of those; moved and put together at most."""
    if node is None or not deep:
        return False
    kind = node.name().rstrip("0123456789").removesuffix("Backward")
    before = [one for one, _ in node.next_functions if one is not None]
    if kind in FULL:
        return True
    if kind in PASSING:
        return bool(before) and all(cannot_vanish(one, deep - 1) for one in before)
    return kind in SUMS and any(cannot_vanish(one, deep - 1) for one in before)


def layer_of(node: Any, names: dict[int, str]) -> str:
    """The layer whose weights a node takes; empty where no edge leads to one at once."""
    for before, _ in node.next_functions:
        for one in (before, *(n for n, _ in before.next_functions)) if before is not None else ():
            name = names.get(id(getattr(one, "variable", None)), "")
            if name:
                return name.rpartition(".")[0]
    return ""
