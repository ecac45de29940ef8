"""Measures vectors that were brought to a length of 1 and then multiplied with others into scores: are the products
cosines?"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.loss.score_limit import MOVED, is_number
from debugtracer.observers.model.running_module import path_of, running_module
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.trace.facts.crossed_lengths import CrossedLengths
from debugtracer.trace.number import number

PRODUCTS = frozenset({"matmul", "__matmul__", "mm", "bmm", "linear", "einsum"})
SOFT = frozenset({"softmax", "log_softmax", "cross_entropy", "logsumexp", "exp"})
DIVIDES = frozenset({"normalize", "div", "__truediv__", "true_divide", "div_", "__itruediv__", "mul", "__mul__"})
QUOTIENTS = ("DivBackward", "MulBackward")
JOINED = (*MOVED, "Cat", "Stack", "Slice", "Select", "Unbind", "Split", "Expand")
COPIED = "torch::autograd::CopySlices"  # what was written in place into a part
SCORED = (
    *JOINED, "Mul", "Div", "Add", "Sub", "Neg", "MaskedFill", "MaskedSelect", "Index", "Where", "Exp", COPIED
)  # fmt: skip
DEEP, WIDE = 8, 32  # nodes back to a quotient, and from a softmax to a product (ours)
MOST = 64  # quotients and products remembered of a step (ours)
ROWS = 8  # vectors at least (ours: a few lengths may be 1 by chance)
ELEMENTS = 2**22  # of a factor that is measured (ours)
UNIT = 1e-2  # relative difference of a length from the others (ours: half precision)
PARTS = 4  # parts that may have been normalised one by one before they were joined (ours)


class Crossed(NamedTuple):
    """A factor of a product with lengths of 1 along a dimension that is not summed over."""

    shape: tuple[int, ...]
    unit: int
    summed: int
    low: float
    high: float
    made: RawFrames
    raw: RawFrames
    module: str | None


class CrossedLengthsObserver(Observer):
    """Measures factors that are quotients, one host sync each; keeps no tensor."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.divided: dict[int, RawFrames] = {}
        """By the number of the node: the line that divided."""
        self.products: dict[int, Crossed] = {}

    def reset(self) -> None:
        self.forget()

    def missed(self) -> None:
        """Forget what was made in a step that was not seen to its end."""
        self.forget()

    def forget(self) -> None:
        """Drop the step in flight."""
        self.divided, self.products = {}, {}

    @of_functions(DIVIDES, PRODUCTS, SOFT)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a quotient, measure the factors of a product, look what a softmax is given."""
        name = getattr(function, "__name__", "")
        if name in DIVIDES:
            if is_quotient(output) and len(self.divided) < MOST:
                self.divided[int(output.grad_fn._sequence_nr())] = raw_frames(1)
        elif name in PRODUCTS:
            if self.divided and isinstance(output, Tensor) and output.grad_fn is not None and len(self.products) < MOST:
                self.measure(name, args, kwargs, output)
        elif name in SOFT and self.products:
            given = args[0] if args else kwargs.get("input")
            if isinstance(given, Tensor):
                self.look(name, given)

    def measure(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], output: Tensor) -> None:
        """Remember a product of which a factor has its lengths of 1 across the sum."""
        for factor, summed in factors(name, args, kwargs):
            made = self.quotient_of(factor)
            if made is None or factor.numel() > ELEMENTS or not is_dense(factor):
                continue
            with torch.no_grad():
                found = crossed(factor.detach(), summed)
            if found is not None:
                running = running_module()
                path = path_of(running, self.run.modules()) if running is not None else None
                unit, low, high = found
                self.products[int(output.grad_fn._sequence_nr())] = Crossed(  # type: ignore[union-attr]
                    tuple(factor.shape), unit, summed, low, high, made, raw_frames(2), path
                )
                return

    def quotient_of(self, factor: Tensor) -> RawFrames | None:
        """The line that divided a factor, or its parts, before they were moved; None for one that was not."""
        queue: deque[tuple[Any, int]] = deque([(factor.grad_fn, 0)])
        while queue:
            node, deep = queue.popleft()
            if node is None or deep > DEEP:
                continue
            if int(node._sequence_nr()) in self.divided:
                return self.divided[int(node._sequence_nr())]
            if node.name().startswith(JOINED):
                queue.extend((before, deep + 1) for before, _ in node.next_functions[:PARTS])
        return None

    def look(self, name: str, scores: Tensor) -> None:
        """Emit the product that scores were made of, once."""
        queue: deque[Any] = deque([scores.grad_fn])
        for _ in range(WIDE):
            node = queue.popleft() if queue else None
            if node is None:
                if not queue:
                    return
                continue
            found = self.products.pop(int(node._sequence_nr()), None)
            if found is not None:
                self.tell(name, found)
            elif node.name().startswith(SCORED):
                queue.extend(before for before, _ in node.next_functions)

    def tell(self, softmax: str, found: Crossed) -> None:
        """Emit one product with both of its lines."""
        self.run.emit(
            CrossedLengths(
                ref=self.run.ref(), shape=found.shape, unit=found.unit, summed=found.summed, low=number(found.low),
                high=number(found.high), softmax=softmax, module=found.module, made=first(found.made),
                frame=first(found.raw),
            )
        )  # fmt: skip

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was made in the step."""
        self.forget()


def is_quotient(output: Any) -> bool:
    """Whether a tensor was divided by others than one number, or multiplied with them."""
    node = output.grad_fn if isinstance(output, Tensor) else None
    if node is None or not node.name().startswith(QUOTIENTS) or output.dim() < 2:
        return False
    return not is_number(node)


def factors(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[Tensor, int]]:
    """The factors of a product that hang on a graph, with the dimension that each is summed over."""
    if name == "einsum":
        return in_letters(args)
    left = args[0] if args else kwargs.get("input")
    names = ("other", "mat2", "weight")
    right = args[1] if len(args) > 1 else next((kwargs[word] for word in names if word in kwargs), None)
    found = [(left, -1), (right, -1 if name == "linear" else -2)]
    return [(t, t.dim() + dim) for t, dim in found if isinstance(t, Tensor) and t.grad_fn is not None and t.dim() > 1]


def in_letters(args: tuple[Any, ...]) -> list[tuple[Tensor, int]]:
    """The same of an einsum of two factors that sums over one letter."""
    if len(args) != 3 or not isinstance(args[0], str) or "->" not in args[0] or "." in args[0]:
        return []
    given, _, out = args[0].replace(" ", "").partition("->")
    words = given.split(",")
    summed = set(words[0]) & set(words[-1]) - set(out)
    if len(words) != 2 or len(summed) != 1:
        return []
    letter = summed.pop()
    pairs = zip(args[1:], words, strict=True)
    return [(t, word.index(letter)) for t, word in pairs if isinstance(t, Tensor) and t.grad_fn is not None]


def crossed(factor: Tensor, summed: int) -> tuple[int, float, float] | None:
    """The dimension along which all lengths are 1, or the root of how many parts were joined, and the range of those
    along the dimension that is summed over; None where that has them too, or none has. One host sync."""
    others = [dim for dim in range(factor.dim()) if dim != summed and factor.shape[dim] >= ROWS]
    if not others or factor.shape[summed] < 2:
        return None
    ends = [end for dim in (summed, *others) for end in factor.double().norm(dim=dim).aminmax()]
    low, high, *rest = torch.stack(ends).tolist()
    if not low < high * (1 - UNIT):
        return None
    for place, dim in enumerate(others):
        least, most = rest[2 * place : 2 * place + 2]
        parts = round(most * most)
        if 1 <= parts <= PARTS and all(abs(end / parts**0.5 - 1) < UNIT for end in (least, most)):
            return dim, low, high
    return None
