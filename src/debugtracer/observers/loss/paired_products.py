"""Finds products of a column with a flat row whose matrix is only added up: no pair has a meaning of its own there."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.loss.row_spread import DIFFERENCES
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.observers.weights.blended_copies import PRODUCTS
from debugtracer.trace.facts.loss_call import LossCall

QUOTIENTS = frozenset({"div", "__truediv__", "__rtruediv__", "true_divide", "divide"})
MOST, NODES = 16, 256  # pairs of a step, nodes of the way from a loss to them (ours)
ADDED = frozenset({"AddBackward0", "SubBackward0", "RsubBackward0"})
KEPT = frozenset(
    {
        *("MeanBackward0", "MeanBackward1", "SumBackward0", "SumBackward1", "NegBackward0", "ToCopyBackward0"),
        *("ViewBackward0", "SqueezeBackward0", "SqueezeBackward1"),
    }
)
POWERS = frozenset({"PowBackward0", "AbsBackward0", "SqrtBackward0"})
"""Of a product that of its factors."""
BOUNDS = frozenset({"MinimumBackward0", "MaximumBackward0"})
"""Of two such matrices: the clipped objective of a policy."""


class PairedProduct:
    """One matrix of a column and a row."""

    def __init__(self, kind: str, flat: Tensor, column: Tensor, raw: RawFrames) -> None:
        self.kind, self.raw = kind, raw
        self.shapes = tuple(flat.shape), tuple(column.shape)


class PairedProductsObserver(Observer):
    """Compares shapes of products in inspected steps, and walks from the loss to those that were found."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.made: dict[int, PairedProduct] = {}
        """By the number of the node."""

    def reset(self) -> None:
        self.made.clear()

    def missed(self) -> None:
        """Forget what was made in a step that was not seen to its end."""
        self.made.clear()

    @of_functions(PRODUCTS, QUOTIENTS, DIFFERENCES)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Remember a matrix that hangs on a graph."""
        name = getattr(function, "__name__", "")
        kind = "mul" if name in PRODUCTS else "div" if name in QUOTIENTS else "sub" if name in DIFFERENCES else ""
        if not kind or len(args) < 2 or not isinstance(output, Tensor) or output.grad_fn is None:
            return
        a, b = args[:2]
        if output.dim() != 2 or not (isinstance(a, Tensor) and isinstance(b, Tensor)) or len(self.made) >= MOST:
            return
        flat, column = (a, b) if a.dim() == 1 else (b, a)
        if flat.dim() != 1 or len(flat) < 2 or tuple(column.shape) != (len(flat), 1):
            return
        if self.is_known(kind, flat, column):
            return
        if not any(is_stored(t) or is_same(t) for t in (flat, column)):
            self.made[int(output.grad_fn._sequence_nr())] = PairedProduct(kind, flat, column, raw_frames(1))

    def is_known(self, kind: str, flat: Tensor, column: Tensor) -> bool:
        """Whether it is told as a call of a loss; of differences, all but those of a prediction that is flat from a
        column of targets that nobody made of a flat one."""
        of_batch = column._base is None and self.run.batches.find(column) is not None
        if kind == "sub":
            return of_batch or not flat.requires_grad or column.requires_grad or column._base is not None
        return kind == "mul" and of_batch and flat.requires_grad != column.requires_grad

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit those that a loss only adds up."""
        if not self.made:
            return
        for node in added_up(losses, self.made):
            pair = self.made.pop(node)
            frames = frames_of(pair.raw)
            self.run.emit(
                LossCall(
                    ref=self.run.ref(), loss=pair.kind, frame=frames[0] if frames else None,
                    input_shape=pair.shapes[0], target_shape=pair.shapes[1], broadcast=True,
                )
            )  # fmt: skip

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was made in the step."""
        self.made.clear()


def is_stored(tensor: Tensor) -> bool:
    """Whether it is a parameter: a matrix of two is a factorisation."""
    return isinstance(tensor, nn.Parameter) or (tensor.requires_grad and tensor.grad_fn is None)


def is_same(tensor: Tensor) -> bool:
    """Whether it holds one value: pairs of it are no other than the rows. Syncs the host."""
    with torch.no_grad(), torch._C.DisableTorchFunction():
        return not is_dense(tensor) or bool((tensor == tensor.reshape(-1)[0]).all())


def added_up(losses: list[Tensor], known: dict[int, PairedProduct]) -> list[int]:
    """The numbers of the matrices that come to the loss through sums, factors that are numbers, and powers of products
    alone; a difference through its square alone."""
    stack: list[tuple[Any, str]] = [(t.grad_fn, "") for t in losses if t.grad_fn is not None and t.numel() == 1]
    seen: set[Any] = set()
    found: list[int] = []
    while stack and len(seen) < NODES:
        node, power = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        pair, name = known.get(int(node._sequence_nr())), node.name()
        if pair is not None and name.startswith(("Mul", "Div", "Sub", "Rsub")):
            if (power == "square") if pair.kind == "sub" else True:
                found.append(int(node._sequence_nr()))
            continue
        if name in POWERS:
            power = "square" if not power and getattr(node, "_saved_exponent", None) == 2 else "power"
        children = [child for child, _ in node.next_functions if child is not None]
        both = name in BOUNDS and all(int(child._sequence_nr()) in known for child in children)
        if name in POWERS or both or name in KEPT or (name in ADDED and not power) or has_number(node, name):
            stack.extend((child, power) for child in children)
    return found


def has_number(node: Any, name: str) -> bool:
    """Whether a product or quotient gives a number, or has one for its other side."""
    if name not in ("MulBackward0", "DivBackward0"):
        return False
    shapes = [tuple(m.shape) for m in getattr(node, "_input_metadata", ())]
    if shapes == [()]:
        return True
    if sum(child is not None for child, _ in node.next_functions) != 1:
        return False
    try:
        other = node._saved_other if node.next_functions[0][0] is not None else node._saved_self
    except (RuntimeError, AttributeError):
        return False  # freed, or saved by hooks of the program's
    return isinstance(other, Tensor) and other.numel() == 1
