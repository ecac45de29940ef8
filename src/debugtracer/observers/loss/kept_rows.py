"""Follows tensors without a graph back to where a step took them from, and remembers which samples a model made kept
results of."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.batches import BatchLog

HANDS_ON = frozenset(
    {
        "softmax", "log_softmax", "exp", "div", "__truediv__", "mul", "__mul__", "to", "float", "double", "half",
        "long", "cuda", "cpu", "contiguous", "clone", "detach", "unsqueeze", "squeeze", "view", "reshape", "flatten",
        "type_as", "view_as",
    }
)  # fmt: skip
TAKES = frozenset({"__getitem__", "index_select", "from_numpy", "tensor", "as_tensor", "stack", "cat", "__get__"})
MOST = 4096  # results followed in a step (ours)
MOST_MADE = 4096  # results of models without a graph that are remembered (ours)


class Source:
    """What a step took from elsewhere, and the line of the index that took it."""

    def __init__(self, tensor: WeakRef[Tensor], raw: RawFrames = ()) -> None:
        self.tensor, self.raw = tensor, raw


class KeptRows:
    """Of one step; what models made without a graph is known for longer. Keeps no tensor alive."""

    def __init__(self, batches: BatchLog) -> None:
        self.batches = batches
        self.way: dict[int, tuple[WeakRef[Tensor], Source | None]] = {}
        """id of a result -> itself, and where it comes from; None: computed in this step."""
        self.made: dict[int, tuple[WeakRef[Tensor], tuple[int, ...], RawFrames]] = {}
        """id of what a model made -> itself, the samples that it was made of, and the line."""

    def clear(self) -> None:
        """Forget the tensors of the step."""
        self.way.clear()

    def computed(self, output: Tensor) -> None:
        """Note a result of this step."""
        if len(self.way) < MOST:
            self.way[id(output)] = WeakRef(output), None

    def follow(self, name: str, args: tuple[Any, ...], output: Tensor) -> None:
        """Note what a function made of its first tensor."""
        given = args[0] if args else None
        if given is output or len(self.way) >= MOST:
            return
        if name in HANDS_ON and isinstance(given, Tensor):
            self.way[id(output)] = WeakRef(output), self.source(given)
        elif name not in TAKES or any(self.source(one) is None for one in tensors(given)):
            self.computed(output)
        elif name in ("__getitem__", "index_select"):
            self.way[id(output)] = WeakRef(output), Source(WeakRef(output), raw_frames(2))

    def source(self, tensor: Tensor) -> Source | None:
        """Where the step took a tensor from; None where it was computed in this step."""
        if tensor.requires_grad:
            return None
        known = self.way.get(id(tensor))
        return known[1] if known is not None and known[0]() is tensor else Source(WeakRef(tensor))

    def remember(self, output: Tensor, given: Tensor) -> None:
        """Note which samples a model made a result of, without a graph."""
        hit = self.batches.find(given)
        if hit is None or hit[0].indices is None or len(hit[0].indices) != len(output):
            return
        if len(self.made) >= MOST_MADE:
            self.made = {key: value for key, value in self.made.items() if value[0]() is not None}
        if len(self.made) < MOST_MADE:
            self.made[id(output)] = WeakRef(output), hit[0].indices, raw_frames(2)

    def made_of(self, tensor: Tensor | None) -> tuple[tuple[int, ...], RawFrames]:
        """The samples a tensor was made of, and the line; nothing where that is not known."""
        known = self.made.get(id(tensor))
        return known[1:] if known is not None and tensor is not None and known[0]() is tensor else ((), ())

    def samples(self, tensor: Tensor) -> tuple[int, ...]:
        """The samples of a tensor of a batch, row by row."""
        source = self.source(tensor)
        taken = source.tensor() if source is not None else None
        hit = self.batches.find(taken) if taken is not None else None
        indices = hit[0].indices if hit is not None and hit[0].loader.keeps_order else None
        return indices if indices is not None and len(indices) == len(tensor) else ()


def tensors(value: Any) -> list[Tensor]:
    """Return those of an argument that may be a list."""
    several = value if isinstance(value, (list, tuple)) else (value,)
    return [one for one in several if isinstance(one, Tensor)]


def base_of(prediction: Tensor) -> int | None:
    """The number of the graph node that made the scores, seen through softmax, temperature and views."""
    node: Any = prediction.grad_fn
    through = ("LogSoftmax", "Softmax", "Div", "Mul", "View", "Unsafe", "Reshape", "Squeeze", "Unsqueeze", "Clone")
    for _ in range(16):
        if node is None or not node.name().startswith((*through, "ToCopy", "Alias")):
            break
        parents = [child for child, _ in node.next_functions if child is not None]
        if len(parents) != 1:
            break
        node = parents[0]
    return int(node._sequence_nr()) if node is not None else None


def probabilities(loss: str, target: Tensor, log_target: bool) -> Tensor | None:
    """The distributions that a loss was given as its target; None where they are none."""
    rows = target.detach().reshape(-1, target.shape[-1]).float()
    if loss == "mse_loss":
        return torch.softmax(rows, -1)
    rows = rows.exp() if log_target else rows
    whole = bool(((rows.sum(-1) - 1).abs() < 2e-2).all() & (rows >= 0).all())
    return rows if whole else None
