"""Compares the dimension of a softmax over scores with the dimension that the product with its weights sums over."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.graph.lost_layers import made_at
from debugtracer.observers.loss.crossed_lengths import MOST, PRODUCTS, factors
from debugtracer.observers.loss.score_limit import is_number
from debugtracer.observers.model.running_module import path_of, running_module
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.attention_axes import AttentionAxes

SAME_ENDS = ("View", "Unsafe", "Reshape", "Expand", "Clone", "ToCopy", "NativeDropout", "FusedDropout", "MaskedFill")
SCORED = (*SAME_ENDS, "Transpose", "Permute", "Squeeze", "Unsqueeze", "Mul", "Div", "Add", "Sub", "Where", "Slice")
DEEP, WIDE = 8, 24  # nodes back to the softmax, and from there to the product of its scores (ours)
DIMS = 3  # of weights at least: a matrix without a batch may be a table of transitions (ours)


class Weights(NamedTuple):
    """What a softmax gave."""

    shape: tuple[int, ...]
    dim: int
    made: Frame | None
    """The line of the softmax, or the one that built its layer."""
    module: str | None


class AttentionAxesObserver(Observer):
    """Reads names and shapes of the graph; no value, no host sync, no tensor is kept."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.made: dict[int, Weights] = {}
        """By the number of the node of the softmax."""

    def reset(self) -> None:
        self.made.clear()

    def missed(self) -> None:
        """Forget what was made in a step that was not seen to its end."""
        self.made.clear()

    @of_functions({"softmax"}, PRODUCTS)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note weights that a softmax makes of the scores of a product, and look where they are multiplied."""
        name = getattr(function, "__name__", "")
        if name == "softmax":
            if isinstance(output, Tensor) and output.dim() >= DIMS and len(self.made) < MOST:
                self.note(output)
        elif name in PRODUCTS and self.made:
            given = factors(name, args, kwargs)
            ways = [(summed, way) for factor, summed in given if (way := self.way(factor)) is not None]
            if len(ways) == 1:  # a product of two of them is no sum of values
                self.look(*ways[0])

    def note(self, output: Tensor) -> None:
        """Remember weights by the node that made them."""
        node = softmax_of(output)
        if node is None or not of_product(node):
            return
        running, roots = running_module(), self.run.modules()
        path = path_of(running, roots) if running is not None else None
        layer = made_at(roots, f"{path}.dim") if isinstance(running, nn.Softmax) and path else None
        dim = signed(node._saved_dim) % output.dim()
        made = layer or first(raw_frames(2))
        self.made[int(node._sequence_nr())] = Weights(tuple(output.shape), dim, made, path)

    def way(self, factor: Tensor) -> tuple[Weights, bool, int] | None:
        """The weights that a factor is, whether its last two dimensions have changed places, and how many it has."""
        node, turned = factor.grad_fn, False
        for _ in range(DEEP):
            if node is None:
                return None
            found = self.made.get(int(node._sequence_nr()))
            if found is not None:
                ends = found.shape[:-3:-1] if turned else found.shape[-2:]
                return (found, turned, factor.dim()) if tuple(factor.shape[-2:]) == ends else None
            name = node.name()
            if name.startswith(("Transpose", "Permute")):
                swaps = swaps_ends(node, factor.dim())
                if swaps is None:
                    return None
                turned ^= swaps
            elif not (name.startswith(SAME_ENDS) or (name.startswith("Mul") and is_masked(node))):
                return None
            node = node.next_functions[0][0] if node.next_functions else None
        return None

    def look(self, summed: int, way: tuple[Weights, bool, int]) -> None:
        """Emit weights that are summed over another dimension than that of their softmax."""
        weights, turned, dims = way
        at = summed - dims  # -1 or -2
        if at not in (-1, -2):
            return
        there = len(weights.shape) + ((-3 - at) if turned else at)
        # over the other one of a wide matrix it is the assignment of positions to a few slots
        other = weights.dim == 2 * len(weights.shape) - 3 - there
        if weights.dim == there or (other and weights.shape[-1] != weights.shape[-2]):
            return
        self.run.emit(
            AttentionAxes(
                ref=self.run.ref(), shape=weights.shape, soft=weights.dim, summed=there, module=weights.module,
                made=weights.made, frame=first(raw_frames(2)),
            )
        )  # fmt: skip

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was made in the step."""
        self.made.clear()


def softmax_of(output: Tensor) -> Any:
    """The node of a softmax that is no log; None where the output hangs on no graph."""
    node = output.grad_fn
    return node if node is not None and node.name().startswith("Softmax") else None


def of_product(node: Any) -> bool:
    """Whether the scores were a product of two batches of matrices, scaled, masked or moved."""
    queue: deque[Any] = deque(before for before, _ in node.next_functions)
    for _ in range(WIDE):
        one = queue.popleft() if queue else None
        if one is None:
            if not queue:
                return False
            continue
        name = one.name()
        if name.startswith("Bmm"):
            return True
        if name.startswith(SCORED):
            queue.extend(before for before, _ in one.next_functions)
    return False


def swaps_ends(node: Any, dims: int) -> bool | None:
    """Whether a node exchanges the last two dimensions; None where it moves others, or does not say."""
    try:
        if node.name().startswith("Transpose"):
            order = list(range(dims))
            a, b = signed(node._saved_dim0) % dims, signed(node._saved_dim1) % dims
            order[a], order[b] = b, a
        else:
            order = [signed(dim) % dims for dim in node._saved_dims]
    except (AttributeError, RuntimeError, IndexError):
        return None
    if order == list(range(dims)):
        return False
    return True if order == [*range(dims - 2), dims - 1, dims - 2] else None


def is_masked(node: Any) -> bool:
    """Whether a product has a number or something that nobody trains for its other side: a scale, a mask, dropout."""
    return is_number(node) or sum(child is not None for child, _ in node.next_functions) == 1


def signed(dim: int) -> int:
    """A dimension as it was given: nodes keep it as an unsigned number."""
    return dim - 2**64 if dim >= 2**63 else dim
