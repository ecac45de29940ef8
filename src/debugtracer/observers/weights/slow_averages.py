"""Looks at averages of weights made by hand (EMA): have they left their first values when they are evaluated?"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.callsites.line import first
from debugtracer.callsites.origins.share_line import share_line
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.observers.weights.blended_copies import (
    BLENDS,
    CLOSE,
    ELEMENTS,
    IN_PLACE,
    PRODUCTS,
    SUMS,
    Weighted,
    is_weight_of,
    place,
)
from debugtracer.recorder.run_state import parameters
from debugtracer.trace.facts.slow_average import SlowAverage
from debugtracer.trace.number import number

DIFFERENCES = frozenset({"sub", "__sub__", "__rsub__", "subtract"})
LARGEST = 0.1  # share of an average that is slow (ours)
COVERED = 0.25  # of the way; farther than that says something of the training (ours)
UPDATES = 50  # since its first values; fewer are a try of the program (ours)
FRESH = 0.25  # how near it began, of what its parameter went since: one that goes on from a file began far (ours)
MOVED = 0.02  # of its norm that the parameter went: where it stands, so may the average (ours)
MOST = 8  # averages that are followed (ours)
LOOKS = 3  # at the average (ours)
EVALUATIONS = 256  # calls without a graph that are looked at (ours)
IN_A_STEP = 4  # of them in one step (ours)
ALIKE = 16  # parameters of one shape, of a network that is another (ours)
OFTEN = 0.25  # of the updates; a network that is called more often without a graph makes targets (ours)


class AverageLook:
    """One average, its first values, and what was seen of it since."""

    def __init__(self, copy: Tensor, param: Tensor, name: str, step: int, raw: RawFrames) -> None:
        self.at, self.name, self.step, self.raw = place(param), name, step, raw
        self.first = copy.detach().clone()
        self.began = far(param, self.first)
        """How far the parameter was from it then."""
        self.went = 0.0
        """How far the parameter was from the first values at the last look."""
        self.reached = 0.0
        """How far the average was."""
        self.shares: dict[int, float] = {}
        """Step -> what was taken of the parameter."""

    @property
    def moved(self) -> float:
        """How far the parameter went, relative to its norm."""
        return self.went / max(float(self.first.norm()), 1e-30)

    def covered(self, step: int) -> float:
        """The part of the way that the shares let it go until a step; between two looks the larger counts."""
        left, looks = 1.0, sorted(self.shares.items())
        for (begin, share), (end, following) in zip(looks, [*looks[1:], (step, looks[-1][1])], strict=True):
            left *= (1 - max(share, following)) ** max(end - begin, 0)
        return 1 - left


class SlowAveragesObserver(Observer):
    """Hears the functions of inspected steps, and calls without a graph once it follows an average; holds a few small
    tensors."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.reset()

    def reset(self) -> None:
        self.last: Weighted | None = None
        self.difference: tuple[Any, Any, Any] | None = None
        self.looks: dict[int, AverageLook] = {}
        """Where a parameter lies -> what was seen of its average."""
        self.names: dict[int, str] = {}
        self.known = -1
        """The step for which the names are."""
        self.asked, self.asked_at = 0, -1
        self.calls = 0
        self.crash = False
        self.steps: list[int] = []
        """Those of such evaluations."""
        self.used: tuple[int, float, RawFrames] | None = None
        """The last evaluation near the first values: step, part of the way, lines."""

    def install(self) -> None:
        self.run.unsubscribe(self.entered)

    def crashed(self, error: BaseException) -> None:
        """Note that the run ends before its time."""
        self.crash = True

    @inspected
    def step_begins(self, optimizer: Optimizer) -> None:
        """Let go of the tensors of the last average."""
        self.last = self.difference = None

    @inspected
    @of_functions(BLENDS, SUMS, PRODUCTS, IN_PLACE, DIFFERENCES)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Take the ways to write an average of two tensors."""
        name = getattr(function, "__name__", "")
        if len(args) < 2 or not len(self.run.optimizers):
            return
        if name in DIFFERENCES:
            self.difference = (args[0], args[1], output) if not getattr(output, "requires_grad", True) else None
        elif name in BLENDS:
            weight = args[2] if len(args) > 2 else kwargs.get("weight")
            if isinstance(weight, float) and not getattr(output, "requires_grad", True):
                self.blended(args[0], args[1], weight)
        elif name in SUMS:
            self.added(args, kwargs.get("alpha", 1), name)
        else:
            self.multiplied(args, output, name in IN_PLACE)

    def added(self, args: tuple[Any, ...], alpha: Any, name: str) -> None:
        """Take what is added to a tensor that was multiplied in place just before, or a part of a difference."""
        before, between = self.last, self.difference
        if not isinstance(alpha, float) or not isinstance(args[1], Tensor):
            return
        if between is not None and between[2] is args[1]:
            self.either(between[0], between[1], abs(alpha))
            return
        taken = alpha if name == "add_" else -alpha
        if before is not None and before.written and place(args[0]) == place(before.tensor):
            self.two(before, Weighted(args[1], taken))

    def multiplied(self, args: tuple[Any, ...], output: Any, written: bool) -> None:
        """Take a product with a number: of a difference, or the second of two that add up to the whole."""
        pairs = (args[:2], args[1::-1])
        tensor, weight = next(((a, b) for a, b in pairs if isinstance(a, Tensor)), (None, None))
        before, between, self.last = self.last, self.difference, None
        plain = isinstance(weight, (float, int)) and (written or not getattr(output, "requires_grad", True))
        if tensor is None or tensor.is_nested or not plain:
            return
        self.last = Weighted(tensor, float(weight), written)  # type: ignore[arg-type]
        if between is not None and between[2] is tensor:
            self.either(between[0], between[1], abs(self.last.weight))
        elif before is not None and before.tensor.shape == tensor.shape:
            self.two(before, self.last)

    def two(self, one: Weighted, other: Weighted) -> None:
        """Take two whose weights add up to the whole."""
        if abs(one.weight + other.weight - 1) <= CLOSE:
            first_is = place(one.tensor) in self.trained()
            self.either(one.tensor, other.tensor, one.weight if first_is else other.weight)

    def either(self, one: Any, other: Any, share: float) -> None:
        """Take two of which one is the copy and the other a parameter."""
        if isinstance(one, Tensor) and isinstance(other, Tensor):
            self.blended(*((other, one) if place(one) in self.trained() else (one, other)), share)

    def blended(self, copy: Any, param: Any, share: float) -> None:
        """Look at an average, or begin to follow it."""
        if not isinstance(copy, Tensor) or not isinstance(param, Tensor) or not 0 < share <= 1:
            return
        if copy.shape != param.shape:
            return
        trained = self.trained()
        name = trained.get(place(param))
        if name is None or place(copy) in trained or not 1 < param.numel() <= ELEMENTS:
            return
        seen = self.looks.get(place(param))
        if seen is not None:
            seen.shares[self.run.step] = max(share, seen.shares.get(self.run.step, 0.0))
            seen.went, seen.reached = far(param, seen.first), far(copy, seen.first)
        elif share > LARGEST or is_weight_of(copy, self.run.modules()):  # what runs in training makes its targets
            self.run.unsubscribe(self.called, self.step_begins)
            self.last = self.difference = None
        elif len(self.looks) < MOST and float(copy.detach().double().std()) > 0:
            self.looks[place(param)] = look = AverageLook(copy, param, name, self.run.step, raw_frames(3))
            look.shares[self.run.step] = share
            self.run.subscribe(self.entered)

    def trained(self) -> dict[int, str]:
        """The parameters that optimizers hold, by where they lie."""
        if self.known != self.run.step:
            self.known, paths = self.run.step, self.run.names()
            self.names = {place(p): paths.get(id(p), "") for o in list(self.run.optimizers) for p in parameters(o)}
        return self.names

    def farthest(self) -> AverageLook | None:
        """The average of what went farthest."""
        return max(self.looks.values(), key=lambda look: look.moved, default=None)

    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Look at what weights an evaluation is made with."""
        seen, step = self.farthest(), self.run.step
        if seen is None or torch.is_grad_enabled() or step - seen.step < UPDATES or not seen.went:
            return
        if step != self.asked_at:
            self.asked, self.asked_at = 0, step
        if self.asked >= IN_A_STEP or (self.used is not None and self.used[0] == step):
            return
        self.asked += 1
        self.calls += 1
        if self.calls >= EVALUATIONS:
            self.run.unsubscribe(self.entered)
        alike = [p for p in module.parameters() if p.shape == seen.first.shape and p.device == seen.first.device]
        itself = [p for p in alike if place(p) == seen.at]
        part = min((far(p, seen.first) for p in itself or alike[:ALIKE]), default=seen.went) / seen.went
        if part < COVERED:
            self.used = step, part, raw_frames(1)
            self.steps.append(step)

    def ended(self) -> None:
        """Emit an average that lies near its first values at the end of a whole run, and was evaluated there."""
        seen, used = self.farthest(), self.used
        if seen is None or used is None or self.crash or self.run.interrupted or len(seen.shares) < LOOKS:
            return
        updates = self.run.step - seen.step
        covered = max(seen.covered(self.run.step), seen.reached / max(seen.went, 1e-30))
        fresh = seen.began <= FRESH * seen.went and seen.moved >= MOVED
        if updates < UPDATES or covered >= COVERED or not fresh or not seen.reached:
            return
        if used[0] - seen.step < updates / 2 or len(self.steps) - 1 > OFTEN * max(used[0] - self.steps[0], LOOKS):
            return
        stack, share = frames_of(seen.raw), sorted(seen.shares.items())[-1][1]
        self.run.emit(
            SlowAverage(
                ref=self.run.ref("update", self.run.iteration - 1), param=seen.name, share=number(share),
                updates=updates, covered=number(covered), evaluated=number(used[1]),
                frame=stack[0] if stack else None, given=share_line(stack, 1 - share), called=first(used[2]),
            )
        )  # fmt: skip


def far(tensor: Tensor, begin: Tensor) -> float:
    """How far a tensor is from what an average began with; waits for a device."""
    return float((tensor.detach().to(begin.dtype) - begin).norm())
