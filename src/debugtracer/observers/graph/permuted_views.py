"""Finds views whose sizes are those of the tensor in another order, where an op reads the axes; and rows that were
joined part by part and are taken apart as neighbours."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, pairwise
from operator import mul
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.model.shadow_model import main_output
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.loss_call import BINARY, ELEMENTWISE
from debugtracer.trace.facts.permuted_view import PermutedView

VIEWS = frozenset({"view", "reshape"})
COPIES = frozenset({"repeat", "expand", "tile", "expand_as", "broadcast_to"})
JOINS = frozenset({"cat", "concat", "concatenate"})
# what leaves the axes as they are, adds one of size 1, or takes one place of one
CARRIES = frozenset(
    {
        "contiguous", "float", "double", "half", "to", "type", "clone", "detach", "relu", "gelu", "silu", "leaky_relu",
        "elu", "tanh", "sigmoid", "softplus", "dropout", "abs", "square", "sqrt", "log", "exp", "clamp", "__getitem__",
        "select", "unsqueeze", "squeeze", "requires_grad_", "cuda", "cpu",
    }
)  # fmt: skip
# the same, where what is added or multiplied is a number
BESIDE = frozenset(
    {
        "add", "__add__", "__radd__", "sub", "__sub__", "__rsub__", "mul", "__mul__", "__rmul__", "div", "__truediv__",
        "pow", "__pow__", "__neg__",
    }
)  # fmt: skip
READERS = frozenset(
    {
        "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "matmul", "__matmul__", "bmm",
        "layer_norm", "batch_norm", "group_norm", "instance_norm", "softmax", "log_softmax", "lstm", "gru", "rnn_tanh",
        "rnn_relu", "scaled_dot_product_attention", "multi_head_attention_forward", "max_pool1d", "avg_pool1d",
        "max_pool2d", "avg_pool2d", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool1d",
        "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
    }
)  # fmt: skip
FOLDS = frozenset({"mean", "sum", "max", "min", "amax", "amin", "std", "var"})  # read an axis where one is named
# what may put rows in another order
MOVES = frozenset(
    {"__getitem__", "index_select", "gather", "take_along_dim", "flip", "roll", "sort", "transpose", "permute"}
)
MOST = 64  # views followed in a step (ours)
MOST_ROWS = 1024  # tensors made of joined rows that are followed in a step (ours)


class FollowedView(NamedTuple):
    """A view of this kind, and what was made of it."""

    tensor: Callable[[], Tensor | None]
    name: str
    shape: tuple[int, ...]
    result: tuple[int, ...]
    raw: RawFrames
    copies: bool = False
    """It is made of copies of one tensor along an axis."""
    made: bool = True
    """It holds what was computed, or such copies: a parameter, noise and a constant have no order that is lost."""


class PermutedViewsObserver(Observer):
    """Compares shapes; reads no value and keeps no tensor alive."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.followed: dict[int, FollowedView] = {}
        self.joined: dict[int, tuple[WeakRef[Tensor], tuple[int, int]]] = {}
        """What was joined along the rows in this step, and what was made of it row by row: (parts, rows of each)."""
        self.flattened: set[tuple[int, int]] = set()
        """The first two sizes of what a view made rows of in this step."""
        self.repeated: dict[int, WeakRef[Tensor]] = {}
        """Tensors of this step that hold copies of another along an axis."""
        self.stacked: dict[int, WeakRef[Tensor]] = {}
        """Tables of this step that torch.stack has made, a row from each vector."""
        self.told: set[RawFrames] = set()

    def reset(self) -> None:
        self.forget()
        self.told.clear()

    def missed(self) -> None:
        """Forget what was followed in a step that was not seen to its end."""
        self.forget()

    def forget(self) -> None:
        """Drop what was followed in the step."""
        for store in (self.followed, self.joined, self.repeated, self.flattened, self.stacked):
            store.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note such a view, follow it to an op that reads the axes."""
        name = getattr(function, "__name__", "")
        if name in VIEWS and args:
            self.viewed(name, args[0], output)
        elif name in JOINS and args and isinstance(output, Tensor):
            self.join(args, kwargs, output)
            self.beside(name, args, kwargs)
        elif name == "stack" and isinstance(output, Tensor) and output.dim() == 2 and len(self.stacked) < MOST:
            if (args[1] if len(args) > 1 else kwargs.get("dim", 0)) == 0:
                self.stacked[id(output)] = WeakRef(output)
        elif name in COPIES and isinstance(output, Tensor) and len(self.repeated) < MOST and args and has_rows(args[0]):
            self.repeated[id(output)] = WeakRef(output)
        elif self.joined and name not in MOVES and args and isinstance(output, Tensor):
            self.hand_on(args[:2], output)
        if self.followed and (name in CARRIES or (name in BESIDE and is_beside(args))):
            known = self.find(args[0]) if args else None
            if known is not None and isinstance(output, Tensor) and output.dim() > 1:
                self.followed[id(output)] = known._replace(tensor=WeakRef(output))
        elif self.followed and (name in READERS or (name in FOLDS and (len(args) > 1 or "dim" in kwargs))):
            read = (*args[:2], kwargs.get("input"), kwargs.get("target"))
            views = [view for value in read if (view := self.find(value)) is not None]
            known = views[0] if views else None
            both = (
                len(views) > 1 and name in ELEMENTWISE | BINARY
            )  # both sides were seen otherwise: pairs are still pairs
            if known is not None and not both and torch.is_grad_enabled():
                self.tell(known, 0, name, raw_frames(1))

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Remember what a network makes of joined rows."""
        made = main_output(output)
        if self.joined and made is not None:
            self.hand_on((*args, *kwargs.values()), made)

    def hand_on(self, given: tuple[Any, ...], output: Tensor) -> None:
        """Remember a tensor with as many rows as the joined one that it was made of."""
        for value in given:
            known = self.joined.get(id(value))
            joined = known[0]() if known is not None else None
            if known is None or joined is None or joined is not value or len(self.joined) >= MOST_ROWS:
                continue
            if output.shape[:1] == joined.shape[:1]:
                self.joined[id(output)] = (WeakRef(output), known[1])
                return

    def viewed(self, name: str, given: Any, output: Any) -> None:
        """Note a view that orders the sizes anew, or takes joined rows apart as neighbours."""
        if not isinstance(given, Tensor) or not isinstance(output, Tensor) or len(self.followed) >= MOST:
            return
        before, after = tuple(given.shape), tuple(output.shape)
        if len(before) > 2 and len(after) == len(before) - 1 and before[0] * before[1] == after[0]:
            self.flattened.add((before[0], before[1]))
        if not given.is_floating_point():
            return
        known = self.find(given)
        turned = is_turned(before, after) and self.has_samples(given)
        if (turned or is_permuted(before, after)) and (known is None or known.shape != after):  # a view that is undone
            held = self.repeated.get(id(given))
            copies = held is not None and held() is given
            made = copies or given.grad_fn is not None
            self.followed[id(output)] = FollowedView(WeakRef(output), name, before, after, raw_frames(2), copies, made)
        elif len(before) > 1 and len(after) == len(before) + 1 and after[0] * after[1] == before[0]:
            joined = self.joined.get(id(given))
            made_of = joined is not None and joined[0]() is given and joined[1] == (after[1], after[0])
            if made_of and (after[0], after[1]) not in self.flattened and after[0] != after[1]:
                view = FollowedView(WeakRef(output), name, before, after, raw_frames(2))
                self.tell(view, after[1], "", ())
        if self.joined:
            self.hand_on((given,), output)

    def has_samples(self, table: Tensor) -> bool:
        """Whether the rows of a table are samples: it was stacked in this step, or a loader has handed it out."""
        held = self.stacked.get(id(table))
        return (held is not None and held() is table) or self.run.batches.find(table) is not None

    def join(self, args: tuple[Any, ...], kwargs: dict[str, Any], output: Tensor) -> None:
        """Note tensors of one shape that were joined along their rows."""
        dim = args[1] if len(args) > 1 else kwargs.get("dim", 0)
        shapes = (
            {tuple(t.shape) for t in args[0] if isinstance(t, Tensor)} if isinstance(args[0], (list, tuple)) else ()
        )
        if dim == 0 and len(args[0]) > 1 and len(shapes) == 1 and (shape := next(iter(shapes))) and shape[0] > 1:
            self.joined[id(output)] = (WeakRef(output), (len(args[0]), shape[0]))

    def beside(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Tell a view of what was computed that is put beside tensors that were not seen so, along an axis behind those
        it has moved: places of the one are paired with places of the others."""
        dim = args[1] if len(args) > 1 else kwargs.get("dim", 0)
        parts = args[0] if self.followed and isinstance(args[0], (list, tuple)) and torch.is_grad_enabled() else ()
        views = [view for one in parts if (view := self.find(one)) is not None]
        if not views or len(views) == len(parts) or type(dim) is not int or not views[0].made:
            return
        moved = [n for n, (a, b) in enumerate(zip(views[0].shape, views[0].result, strict=False)) if a != b]
        if dim % len(views[0].result) > max(moved):
            self.tell(views[0], 0, name, raw_frames(2))

    def find(self, value: Any) -> FollowedView | None:
        """The view that a tensor is made of; None for others."""
        known = self.followed.get(id(value))
        return known if known is not None and known.tensor() is value else None

    def tell(self, view: FollowedView, parts: int, reader: str, raw: RawFrames) -> None:
        """Emit it once a line."""
        if view.raw in self.told:
            return
        self.told.add(view.raw)
        frames, readers = frames_of(view.raw), frames_of(raw)
        self.run.emit(
            PermutedView(
                ref=self.run.ref(), function=view.name, shape=view.shape, result=view.result, parts=parts,
                frame=frames[0] if frames else None, reader=reader, reader_frame=readers[0] if readers else None,
                whole=not parts and not view.copies and len(view.shape) > 2 and is_split(view.shape, view.result),
            )
        )  # fmt: skip

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was followed in the step."""
        self.forget()


def has_rows(value: Any) -> bool:
    """Whether copies of a tensor hold rows that differ: it has several, and is no parameter, which has no order."""
    trained = isinstance(value, Tensor) and value.is_leaf and value.requires_grad
    return isinstance(value, Tensor) and not trained and value.numel() > max(value.shape[-1:], default=1)


def is_beside(args: tuple[Any, ...]) -> bool:
    """Whether what is combined with a tensor is a number: it scales or moves."""
    return all(not isinstance(other, Tensor) or other.numel() == 1 for other in args[1:])


def is_permuted(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    """Whether the sizes are the same in another order; those of 1, which move no value, left out."""
    long, other = [n for n in before if n > 1], [n for n in after if n > 1]
    return len(before) == len(after) > 2 and long != other and sorted(long) == sorted(other)


def is_turned(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    """Whether a table gets its two sizes in the other order, axes of 1 beside them."""
    return len(before) == 2 and 1 < before[0] != before[1] > 1 and tuple(n for n in after if n > 1) == before[::-1]


def is_split(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    """Whether such a view only splits and joins neighbouring axes: no row of the new ones cuts one of the old, as where
    (batch, 64, 8) becomes (batch, 8, 64), eight rows joined to each."""
    ends = sorted({*accumulate(before, mul), *accumulate(after, mul)})
    return all(more % less == 0 for less, more in pairwise(ends) if less)
