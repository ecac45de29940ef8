"""Compares the number by which the noise of a latent is scaled with the one whose divergence is in the loss: the
logarithm of a variance and that of a standard deviation differ by a factor of 2."""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any, NamedTuple

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.loss.score_limit import is_number
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.observers.weights.blended_copies import PRODUCTS
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.latent_spread import LatentSpread

NORMAL = frozenset({"randn", "randn_like", "normal_", "normal", "_standard_normal"})
UNIFORM = frozenset({"rand", "rand_like", "uniform_"})
MOVED = ("View", "Unsafe", "Reshape", "Expand", "Clone", "ToCopy", "Squeeze", "Unsqueeze")
SUMS = ("Add", "Sub", "Rsub", "Neg", "Sum", "Mean", "Clone", "View", "Squeeze")
MOST, DEEP, NODES = 16, 4, 512  # draws and products of a step, nodes to an exponential, and below a loss (ours)

Value = tuple[int, int]
"""The number of the node that made a tensor, and which of its outputs it is."""


class Scaled(NamedTuple):
    """Noise that was multiplied."""

    raw: bool
    shape: tuple[int, ...]
    made: RawFrames
    product: RawFrames
    drawn: str = ""
    """The draw, where it is a uniform one."""


class LatentSpreadsObserver(Observer):
    """Reads the graph of inspected steps; no value, no host sync, no tensor is kept."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.noise: dict[int, weakref.ref[Tensor]] = {}
        self.uniform: dict[int, tuple[str, RawFrames]] = {}
        """Those of them that are uniform: the function that drew them, and its line."""
        self.lines: dict[int, RawFrames] = {}
        """By the number of the node of an exponential."""
        self.scaled: dict[Value, Scaled] = {}

    def reset(self) -> None:
        self.missed()

    def missed(self) -> None:
        """Forget what was made in a step that was not seen to its end."""
        for one in (self.noise, self.uniform, self.lines, self.scaled):
            one.clear()

    @of_functions(NORMAL, UNIFORM, {"exp", "exp_"}, PRODUCTS)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note noise, exponentials, and products of both."""
        name = getattr(function, "__name__", "")
        if name in NORMAL or name in UNIFORM:
            if isinstance(output, Tensor) and output.grad_fn is None and len(self.noise) < MOST:
                self.noise[id(output)] = WeakRef(output)
                self.uniform.pop(id(output), None)
                if name in UNIFORM:
                    self.uniform[id(output)] = name, raw_frames(1)
        elif name in ("exp", "exp_"):
            if isinstance(output, Tensor) and output.grad_fn is not None and len(self.lines) < MOST:
                self.lines[int(output.grad_fn._sequence_nr())] = raw_frames(1)
        elif self.noise and name in PRODUCTS and len(args) > 1 and len(self.scaled) < MOST:
            pair = [one for one in args[:2] if isinstance(one, Tensor)]
            drawn = [one for one in pair if (known := self.noise.get(id(one))) is not None and known() is one]
            if len(pair) == 2 and len(drawn) == 1:
                factor = pair[1] if drawn[0] is pair[0] else pair[0]
                how = self.uniform.get(id(drawn[0]))
                if how is None:
                    self.scale(factor)
                else:
                    self.spread(factor, *how)

    def spread(self, factor: Tensor, name: str, made: RawFrames) -> None:
        """Remember what uniform noise is multiplied with: exp(L) or exp(L / 2)."""
        node = factor.grad_fn
        if node is None or not node.name().startswith("Exp") or node.name().startswith("Expand"):
            return
        inner, at = node.next_functions[0]
        if inner is not None and inner.name().startswith(("Mul", "Div")) and is_number(inner):
            inner, at = next((pair for pair in inner.next_functions if pair[0] is not None), (None, 0))
        if inner is not None:
            key = int(inner._sequence_nr()), at
            self.scaled[key] = Scaled(False, tuple(factor.shape), made, raw_frames(2), name)

    def scale(self, factor: Tensor) -> None:
        """Remember what noise is multiplied with."""
        node, output = factor.grad_fn, factor.output_nr
        for _ in range(DEEP):
            if node is None:
                return
            number = int(node._sequence_nr())
            if node.name().startswith("Exp") and not node.name().startswith("Expand"):
                inner, at = node.next_functions[0]
                if inner is not None:
                    made = self.lines.get(number, raw_frames(2))
                    key = int(inner._sequence_nr()), at
                    self.scaled[key] = Scaled(False, tuple(factor.shape), made, raw_frames(2))
                return
            if not node.name().startswith(MOVED):
                self.scaled[number, output] = Scaled(True, tuple(factor.shape), raw_frames(2), raw_frames(2))
                return
            node, output = node.next_functions[0]

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Look for sums of such a number and its exponential."""
        if not self.scaled:
            return
        added = summands(losses)
        for (number, output), one in self.scaled.items():
            if (number, output, False) in added and (number, output, True) in added:
                self.run.emit(
                    LatentSpread(
                        ref=self.run.ref(), raw=one.raw, shape=one.shape, frame=first(one.made),
                        product=first(one.product), drawn=one.drawn,
                    )
                )  # fmt: skip
        self.missed()

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was made in the step."""
        self.missed()


def summands(losses: list[Tensor]) -> set[tuple[int, int, bool]]:
    """What losses add up: the node and output of each summand, and of each whose exponential is one (True)."""
    queue: deque[tuple[Any, int]] = deque((loss.grad_fn, 0) for loss in losses if loss.grad_fn is not None)
    seen: set[Any] = set()
    found: set[tuple[int, int, bool]] = set()
    while queue and len(seen) < NODES:
        node, output = queue.popleft()
        name = node.name()
        found.add((int(node._sequence_nr()), output, False))
        if node in seen:
            continue
        seen.add(node)
        before = [(one, at) for one, at in node.next_functions if one is not None]
        if name.startswith("Exp") and not name.startswith("Expand"):
            found |= {(int(one._sequence_nr()), at, True) for one, at in before}
        elif name.startswith(SUMS) or (name.startswith(("Mul", "Div")) and is_number(node)):
            queue.extend(before)
    return found
