"""Compares the backward of one autograd.Function with differences of its forward, in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from debugtracer.trace.facts.function_derivative import Difference

DIRECTIONS = 3  # random ones that are tried (ours)
STEPS = (1e-5, 1e-6)  # of a difference, in the unit of the input's size; smooth where both agree (ours)
SMOOTH = 1e-3  # share by which they may differ (ours)
WRONG = 0.05  # share by which backward may miss the derivative (ours: approximations are written on purpose)
TWICE = 2.0  # another gradient than 1 (any would do)
WIDE = 0.5  # of the input's size: a difference over which steps of rounding are not seen (ours)
FURTHER = 4.0  # times the input that is tried beside the input (ours: also where a range ends)
STANDS = 0.99  # share of outputs that a small step leaves as they are, of a function in steps (ours)
MOST_RISE, RISES, FLAT = 0.9, 0.5, 0.05  # shares of the steepest slope, and of elements (ours)
ROWS = 8  # rows of an input that are compared each for itself (ours)
TINY = 1e-6  # times the gradient that came in: one that no limit would cut (ours)

Outcome = tuple[Difference, float, float, float | None]


class DerivativeTrial:
    """Calls a Function on doubles; raises what the user's code raises."""

    def __init__(self, apply: Callable[..., Any], args: tuple[Any, ...], place: int) -> None:
        self.apply, self.args, self.place = apply, tuple(map(doubled, args)), place
        self.x: Tensor = self.args[place]
        self.size = float(self.x.abs().mean()) or 1.0
        self.generator = torch.Generator().manual_seed(0)

    def output(self, x: Tensor) -> Tensor | None:
        """The first floating output for another input."""
        given = self.apply(*self.args[: self.place], x, *self.args[self.place + 1 :])
        outputs = given if isinstance(given, (tuple, list)) else (given,)
        return next((o for o in outputs if isinstance(o, Tensor) and o.is_floating_point()), None)

    def random(self, like: Tensor) -> Tensor:
        """A direction of that shape, drawn from a generator of our own."""
        drawn = torch.randn(like.shape, generator=self.generator, dtype=torch.float64)
        return drawn.to(like.device)

    def ramp(self) -> Tensor:
        """A small change that is another one for each element: a function of differences is blind to a shift."""
        return torch.linspace(0.5, 1.5, self.x.numel(), dtype=torch.float64, device=self.x.device).view(self.x.shape)

    def gradient(self, x: Tensor, weights: Tensor | None) -> tuple[Tensor, Tensor] | None:
        """The output and what backward gives for a weighted sum of it; None where it gives nothing."""
        x = x.clone().requires_grad_()
        y = self.output(x)
        if y is None or not y.requires_grad or y.dtype != torch.float64:
            return None
        (given,) = torch.autograd.grad(y, x, torch.ones_like(y) if weights is None else weights, allow_unused=True)
        return None if given is None else (y.detach(), given.double())

    def passes_on(self, y: Tensor) -> bool:
        """Whether the output is one of the inputs: such a function is written for what its backward does."""
        return any(isinstance(a, Tensor) and a.shape == y.shape and torch.equal(a, y.to(a.dtype)) for a in self.args)

    def outcome(self) -> Outcome | None:
        """Compare, and ask of a difference whether it is one that is made on purpose; None where nothing can be
        said."""
        found = self.compared()
        if found is None or found[0] not in ("factor", "other", "cut"):
            return found
        difference, true, back, ratio = found
        if difference != "cut" and self.is_bounded():
            return "bounded", true, back, None
        if difference == "other" and self.is_scaled_by_row():
            return "rows", true, back, None
        return ("steps" if self.steps_elsewhere() else difference), true, back, ratio

    def compared(self) -> Outcome | None:
        """What backward gives beside the derivative."""
        first, again = self.gradient(self.x, None), self.gradient(self.x, None)
        if first is None or again is None or not torch.equal(first[0], again[0]) or self.passes_on(first[0]):
            return None
        if not bool(torch.isfinite(first[0]).all() and torch.isfinite(first[1]).all()):
            return None
        with torch.no_grad():
            elementwise = self.is_elementwise(first[0])
        if self.stands(first[0]):
            return self.in_steps() if elementwise else None
        return self.by_element() if elementwise else self.by_direction(first[0])

    def stands(self, y: Tensor) -> bool:
        """Whether a small change of the input changes next to nothing: a function in steps."""
        with torch.no_grad():
            near = self.output(self.x + STEPS[0] * self.size * self.ramp())
        return near is not None and float((near == y).double().mean()) >= STANDS

    def steps_elsewhere(self) -> bool:
        """Whether it is a function in steps of another input: a quantiser, whose derivative for the width of a step
        is made up too."""
        with torch.no_grad():
            y = self.output(self.x)
        others = [
            DerivativeTrial(self.apply, self.args, i)
            for i, a in enumerate(self.args)
            if i != self.place and isinstance(a, Tensor) and a.is_floating_point() and a.numel() > 1
        ]
        return y is not None and any(other.stands(y) for other in others)

    def is_bounded(self) -> bool:
        """Whether backward is the derivative where a next to vanishing gradient comes in: larger ones are clipped."""
        with torch.no_grad():
            y = self.output(self.x)
        if y is None:
            return False
        for _ in range(DIRECTIONS):
            weights, way = TINY * self.random(y), self.random(self.x)
            found = self.gradient(self.x, weights)
            true, check = (self.along(way, weights, step * self.size) for step in STEPS)
            if found is None or not agree(true, check, SMOOTH) or not true:
                return False
            if not agree(true, float((found[1] * way).sum()), WRONG):
                return False
        return True

    def is_scaled_by_row(self) -> bool:
        """Whether backward is the derivative times a positive number of its own for each row of the input: divided by
        how often a class came, or by its length."""
        with torch.no_grad():
            y = self.output(self.x)
        if y is None or self.x.dim() < 2:
            return False
        weights = torch.ones_like(y) if y.numel() == 1 else self.random(y)
        found = self.gradient(self.x, weights)
        moved = [] if found is None else found[1].flatten(1).any(1).nonzero().flatten().tolist()
        if found is None or len(moved) < 2 or self.x[0].numel() < 2:
            return False
        return all(self.one_factor(found[1], weights, row) for row in moved[:: -(-len(moved) // ROWS)])

    def one_factor(self, given: Tensor, weights: Tensor, row: int) -> bool:
        """Whether one positive number makes the gradient of a row of the derivative, in all directions."""
        ratios = []
        for _ in range(DIRECTIONS):
            way = torch.zeros_like(self.x)
            way[row] = self.random(self.x[row])
            true, check = (self.along(way, weights, step * self.size) for step in STEPS)
            if not agree(true, check, SMOOTH) or not true:
                return False
            ratios.append(float((given * way).sum()) / true)
        return min(ratios) > 0 and agree(min(ratios), max(ratios), SMOOTH)

    def is_unscaled(self) -> bool:
        """Whether backward of a function that gives one number pays no heed to the gradient that comes in."""
        one = self.gradient(self.x, None)
        if one is None or one[0].numel() != 1 or not bool(one[1].any()):
            return False
        two = self.gradient(self.x, torch.full_like(one[0], TWICE))
        return two is not None and torch.equal(one[1], two[1])

    def is_elementwise(self, y: Tensor) -> bool:
        """Whether each output is made of the input at the same place."""
        if y.shape != self.x.shape or y.numel() < 2:
            return False
        mask = torch.zeros(self.x.numel(), dtype=torch.bool, device=self.x.device)
        mask[::2] = True
        mask = mask.view(self.x.shape)
        moved = self.output(torch.where(mask, self.x + WIDE * self.size, self.x))
        return moved is not None and torch.equal(moved[~mask], y[~mask]) and not torch.equal(moved[mask], y[mask])

    def slopes(self, x: Tensor, step: float) -> Tensor:
        """The slope of each element by differences, of a function by element."""
        with torch.no_grad():
            return self.difference(x + step, x - step) / (2 * step)

    def by_element(self) -> Outcome | None:
        """Compare where both the function and its backward move: where one of them is 0, that may be meant (a range
        that is left, a straight-through estimator)."""
        slope, check = (self.slopes(self.x, step * self.size) for step in STEPS)
        found = self.gradient(self.x, None)
        if found is None:
            return None
        smooth = (slope - check).abs() <= SMOOTH * slope.abs()
        both = smooth & (slope != 0) & (found[1] != 0)
        if int(both.sum()) < 2:
            return None
        ratios = found[1][both] / slope[both]
        wrong = (ratios - 1).abs() > WRONG
        if float(wrong.double().mean()) < 1 - RISES:
            return "same", 0.0, 0.0, None
        low, high = ratios.aminmax()
        one = bool((high - low).abs() <= SMOOTH * high.abs())
        worst = int((ratios - 1).abs().argmax())
        return (
            "factor" if one else "other", float(slope[both][worst]), float(found[1][both][worst]),
            float(ratios[worst]) if one else None,
        )  # fmt: skip

    def by_direction(self, y: Tensor) -> Outcome | None:
        """Compare directional derivatives of weighted sums of the output."""
        pairs: list[tuple[float, float]] = []
        for _ in range(DIRECTIONS):
            weights, way = self.random(y), self.random(self.x)
            if y.numel() == 1:
                weights = torch.ones_like(y)  # a loss: its backward may take the gradient of a loss to be 1
            found = self.gradient(self.x, weights)
            if found is None:
                return None
            if found[1].shape == weights.shape and torch.equal(found[1], weights):
                return None  # it hands the gradient on as it came: a straight-through estimator
            true, check = (self.along(way, weights, step * self.size) for step in STEPS)
            if not agree(true, check, SMOOTH) or true == 0:
                return None  # a kink, or a function in steps
            pairs.append((true, float((found[1] * way).sum())))
        if any(agree(true, back, WRONG) for true, back in pairs):
            return "same", *pairs[0], None
        true, back = pairs[0]
        if all(b == 0 for _, b in pairs):
            return "cut", true, back, None
        ratios = [b / t for t, b in pairs]
        one = max(ratios) - min(ratios) <= SMOOTH * abs(ratios[0])
        return ("factor" if one else "other"), true, back, (ratios[0] if one else None)

    def along(self, way: Tensor, weights: Tensor, step: float) -> float:
        """The directional derivative by central differences."""
        with torch.no_grad():
            apart = self.difference(self.x + step * way, self.x - step * way)
        return float((apart * weights).sum()) / (2 * step)

    def difference(self, high: Tensor, low: Tensor) -> Tensor:
        """The output at one input less that at another."""
        a, b = self.output(high), self.output(low)
        assert a is not None
        assert b is not None
        return a - b

    def in_steps(self) -> Outcome | None:
        """A function in steps by element (rounding, a sign): its backward must be made up, and should follow the
        slopes over a wider distance, at the input and further out; where it is 0 everywhere nothing before it
        learns."""
        x = torch.cat([self.x.flatten(), FURTHER * self.x.flatten()])
        others = [a for i, a in enumerate(self.args) if i != self.place]
        if any(isinstance(a, Tensor) and a.numel() > 1 for a in others):
            return None  # other inputs would have to be stretched with it
        slope, found = self.slopes(x, WIDE * self.size).abs(), self.gradient(x, None)
        if found is None or not float(slope.max()):
            return None
        rising, flat = slope >= RISES * slope.max(), slope <= FLAT * slope.max()
        given = found[1] != 0
        if not bool(given.any()) and int(rising.sum()) >= 2:
            return "cut", float(slope.max()), 0.0, None
        of_rising, of_flat = float(given[rising].double().mean()), float(given[flat].double().mean())
        if int(rising.sum()) < 2 or int(flat.sum()) < 2 or of_rising > 1 - MOST_RISE or of_flat < MOST_RISE:
            return None
        return "reversed", float(rising.double().mean()), of_rising, None


def agree(a: float, b: float, share: float) -> bool:
    """Whether two numbers differ by that share of the larger one at most."""
    return abs(a - b) <= share * max(abs(a), abs(b))


def doubled(value: Any) -> Any:
    """A floating tensor in double precision, anything else as it is."""
    floating = isinstance(value, Tensor) and value.is_floating_point()
    return value.detach().double() if floating else value
