"""Follows rows that a view made of two axes through layers to where they are taken apart again: in the order in which
they lie?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.graph.permuted_views import FOLDS, JOINS, VIEWS
from debugtracer.observers.model.shadow_model import main_output
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.permuted_view import PermutedView

SPLITS = VIEWS | {"flatten", "unflatten"}
# what makes each row of one row, whatever the rest of its sizes
ROW_BY_ROW = frozenset(
    {
        "relu", "gelu", "silu", "tanh", "sigmoid", "leaky_relu", "dropout", "normalize", "linear", "conv1d", "conv2d",
        "conv3d", "max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d", "adaptive_avg_pool2d", "batch_norm",
        "layer_norm", "group_norm", "float", "to", "contiguous", "clone", "detach", "instance_norm", "stft", "pad",
        "log", "exp", "sqrt", "square", "pow", "__pow__", "abs", "clamp", "elu", "relu_", "dropout2d", "matmul",
        "__matmul__", "adaptive_avg_pool1d", "squeeze",
    }
)  # fmt: skip
# of two tensors, or of one and a number
OF_TWO = frozenset({"add", "__add__", "__iadd__", "sub", "__sub__", "mul", "__mul__", "__rmul__", "div", "__truediv__"})
BEHIND = frozenset({"transpose", "permute", "unsqueeze", "mean", "sum", "softmax", "log_softmax"})
"""The same where the axes that they are told are behind the first."""
MOST = 256  # tensors followed in a step (ours)


class Segment(NamedTuple):
    """Rows from `begin` on that were made of two axes, the second of which runs fastest."""

    begin: int
    sizes: tuple[int, int]

    @property
    def end(self) -> int:
        """The row after the last."""
        return self.begin + self.sizes[0] * self.sizes[1]


class FlatRows(NamedTuple):
    """A tensor with such rows."""

    tensor: Callable[[], Tensor | None]
    segments: tuple[Segment, ...]


class Regrouped(NamedTuple):
    """A view that takes such rows apart in the other order."""

    tensor: Callable[[], Tensor | None]
    name: str
    sizes: tuple[int, int]
    shape: tuple[int, ...]
    result: tuple[int, ...]
    raw: RawFrames


class RegroupedRowsObserver(Observer):
    """Compares shapes in inspected steps; reads no value and keeps no tensor alive."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.flat: dict[int, FlatRows] = {}
        self.regrouped: dict[int, Regrouped] = {}
        self.told: set[RawFrames] = set()

    def reset(self) -> None:
        self.forget()
        self.told.clear()

    def missed(self) -> None:
        """Forget what was followed in a step that was not seen to its end."""
        self.forget()

    def forget(self) -> None:
        """Drop the step in flight."""
        self.flat.clear()
        self.regrouped.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow rows from the view that made them to one that takes them apart, and to a fold over its axes."""
        if not isinstance(output, Tensor) or not args:
            return
        name = getattr(function, "__name__", "")
        if name in SPLITS:
            self.viewed(name, args[0], output)
        elif not self.flat:
            return
        elif name in FOLDS and self.regrouped:
            self.folded(name, args, kwargs)
        elif name in JOINS:
            self.join(args, kwargs, output)
        elif name == "__getitem__":
            self.cut(args, output)
        if name in ROW_BY_ROW or (name in BEHIND and leaves_rows(name, args, kwargs)):
            self.hand_on(args[0], output)
        elif name in OF_TWO:
            for one in args[:2]:
                self.hand_on(one, output)
        if name in ("matmul", "__matmul__") and self.find(args[1]) is not None and args[1].dim() > args[0].dim() == 2:
            self.hand_on(args[1], output)  # one matrix before each row
        if self.regrouped:
            self.turned(name, args, output)

    def turned(self, name: str, args: tuple[Any, ...], output: Tensor) -> None:
        """Follow a view that takes rows apart in the other order where its two axes are exchanged, and cut."""
        view = self.regrouped.get(id(args[0]))
        given = view.tensor() if view is not None else None
        if view is None or given is None or given is not args[0] or output is given:
            return
        exchanges = name in ("transpose", "swapaxes") and output.shape[:2] == given.shape[1::-1]
        same = name in ("squeeze", "contiguous") and output.shape == given.shape
        index = args[1] if name == "__getitem__" else None
        cuts = isinstance(index, tuple) and all(isinstance(one, slice) for one in index[:2])
        if exchanges or same or cuts:
            self.regrouped[id(output)] = view._replace(tensor=WeakRef(output))

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Remember what a network makes of such rows, where they are all that it is given."""
        given = [v for v in (*args, *kwargs.values()) if isinstance(v, Tensor)]
        made = main_output(output)
        if self.flat and len(given) == 1 and made is not None:
            self.hand_on(given[0], made)

    def hand_on(self, given: Any, output: Tensor) -> None:
        """Remember a tensor with as many rows as the one it was made of."""
        known = self.find(given)
        if known is not None and output.dim() > 1 and output.shape[0] == given.shape[0] and output is not given:
            self.follow(output, known.segments)

    def viewed(self, name: str, given: Any, output: Tensor) -> None:
        """Note rows that are made of two axes, and such that are taken apart in the other order."""
        if not isinstance(given, Tensor):
            return
        before, after = tuple(given.shape), tuple(output.shape)
        if len(after) > 1 and before[1:2] and before[0] * before[1] == after[0] and before[2:] == after[1:]:
            if min(before[:2]) > 1 and before[0] != before[1]:
                self.follow(output, (Segment(0, (before[0], before[1])),))
            return
        known = self.find(given)
        if known is None or len(known.segments) != 1:
            return
        (one,) = known.segments
        whole = one.begin == 0 and one.end == before[0]
        if whole and after[:2] == one.sizes[::-1] and len(after) == len(before) + 1:
            view = Regrouped(WeakRef(output), name, one.sizes, before, after, raw_frames(3))
            self.regrouped[id(output)] = view
        elif after[:1] == before[:1] and len(after) > 1:
            self.hand_on(given, output)

    def folded(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Tell a view that is folded over one of its first two axes."""
        view = self.regrouped.get(id(args[0]))
        if view is None or view.tensor() is not args[0] or view.raw in self.told or not torch.is_grad_enabled():
            return
        dim = args[1] if len(args) > 1 else kwargs.get("dim")
        if not isinstance(dim, int) or dim % len(view.result) > 1:
            return
        self.told.add(view.raw)
        frames, readers = frames_of(view.raw), frames_of(raw_frames(2))
        self.run.emit(
            PermutedView(
                ref=self.run.ref(), function=view.name, shape=view.shape, result=view.result, parts=0,
                frame=frames[0] if frames else None, reader=name, reader_frame=readers[0] if readers else None,
                flattened=view.sizes,
            )
        )  # fmt: skip

    def join(self, args: tuple[Any, ...], kwargs: dict[str, Any], output: Tensor) -> None:
        """Remember where such rows lie in a tensor that they were joined to."""
        dim = args[1] if len(args) > 1 else kwargs.get("dim", 0)
        if dim != 0 or not isinstance(args[0], (list, tuple)):
            return
        begin, segments = 0, []
        for part in args[0]:
            known = self.find(part)
            segments += [Segment(begin + s.begin, s.sizes) for s in known.segments] if known is not None else []
            begin += int(part.shape[0]) if isinstance(part, Tensor) and part.dim() else 0
        if segments and begin == output.shape[0]:
            self.follow(output, tuple(segments))

    def cut(self, args: tuple[Any, ...], output: Tensor) -> None:
        """Remember which of them a slice of the rows holds whole."""
        known, index = self.find(args[0]), args[1]
        index = index[0] if isinstance(index, tuple) and index else index
        if known is None or not isinstance(index, slice) or output.dim() < 2:
            return
        begin, end, step = index.indices(args[0].shape[0])
        inside = tuple(Segment(s.begin - begin, s.sizes) for s in known.segments if begin <= s.begin and s.end <= end)
        if inside and step == 1 and output.shape[0] == end - begin:
            self.follow(output, inside)

    def find(self, value: Any) -> FlatRows | None:
        """What is known of a tensor's rows."""
        known = self.flat.get(id(value))
        return known if known is not None and known.tensor() is value else None

    def follow(self, value: Tensor, segments: tuple[Segment, ...]) -> None:
        """Remember a tensor with such rows."""
        if len(self.flat) < MOST:
            self.flat[id(value)] = FlatRows(WeakRef(value), segments)

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was followed in the step."""
        self.forget()


def leaves_rows(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the axes that a function is told are behind the first one, or the first stays the first."""
    given, told = args[0], args[1] if len(args) == 2 else args[1:]
    told = kwargs.get("dim", told)
    axes = list(told) if isinstance(told, (tuple, list)) else [told]
    if not isinstance(given, Tensor) or not axes or not all(type(one) is int for one in axes):
        return False
    places = [one % (given.dim() + (name == "unsqueeze")) for one in axes]
    return 0 not in places or (name == "permute" and places[0] == 0)
