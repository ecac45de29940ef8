"""What is known of a number without executing the program: bounds in float32, and values that it is known to reach,
with the reason."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace

INF = math.inf
TINY = 1e-45  # smallest positive float32
FAR = ("sigmoid", "softmax")  # forms that are exactly 0 only for scores that have left all bounds
# forms whose root is a norm: the pattern norm-by-sqrt looks at it, others leave it alone
SQUARES = ("squares", "sum_of_squares")


@dataclass(frozen=True)
class Point:
    """A value that is reached in ordinary training, and why."""

    at: float
    why: str
    weak: bool = False
    """Reached only when data happen to be so (a perfect prediction, a constant column)."""
    blocked: bool = False
    """No gradient passes there (relu gives 0 for it, whatever comes), so an infinite derivative does no harm."""


@dataclass(frozen=True)
class Value:
    """`tensor` is None where nobody knows. Bounds are what cannot be left; points are what is met."""

    tensor: bool | None = None
    low: float = -INF
    high: float = INF
    points: tuple[Point, ...] = ()
    free: str = ""
    """Why any real number can come, empty if that is not known."""
    form: str = ""
    """What it is made of: softmax, log_softmax, sigmoid, bool, squares, sum_of_squares, exp, exp_sum, norm, spread,
    count,
    unit, max, mean, loss, grad, and nonzero (drawn at random, selected by a condition, filled with ones)."""
    detached: bool = False

    def at_most(self, limit: float) -> Point | None:
        """The strongest point that is not above the limit; any number will do when the value is free."""
        if self.free and self.low <= limit:
            return Point(-1.0, self.free)
        return strongest([p for p in self.points if p.at <= limit])

    def exactly(self, place: float) -> Point | None:
        """The strongest point there."""
        return strongest([p for p in self.points if p.at == place])

    @property
    def constant(self) -> float | None:
        """The only possible value, None if there are several."""
        return self.low if self.low == self.high else None


UNKNOWN = Value()
TENSOR = Value(tensor=True)
NUMBER = Value(tensor=False)


def strongest(points: list[Point]) -> Point | None:
    """A point that ordinary data reach before one that takes special data."""
    return min(points, key=lambda p: p.weak, default=None)


def number(value: float) -> Value:
    """Make the value of a literal number."""
    return Value(False, value, value)


def f32(value: float) -> float:
    """Round to float32: 1 - 1e-8 is 1 there."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(INF, value)


def either(a: bool | None, b: bool | None) -> bool | None:
    """A tensor with anything is a tensor."""
    return True if a or b else (False if a is False and b is False else None)


def negated(v: Value) -> Value:
    """Return the bounds and points of -v."""
    return replace(v, low=-v.high, high=-v.low, points=tuple(replace(p, at=-p.at) for p in v.points), form="")


def plus(a: Value, b: Value) -> Value:
    """Return a + b; a constant moves the points, rounded to float32 unless both are Python numbers."""
    tensor, low, high = either(a.tensor, b.tensor), a.low + b.low, a.high + b.high
    if math.isnan(low) or math.isnan(high):
        low, high = -INF, INF
    rounded = float if tensor is False else f32
    for one, other in ((a, b), (b, a)):
        if (shift := other.constant) is not None:
            points = tuple(replace(p, at=rounded(p.at + rounded(shift))) for p in one.points)
            form = "exp_sum" if one.form in ("exp", "exp_sum") else one.form if shift == 0 else ""
            return Value(tensor, rounded(low), rounded(high), points, one.free, form, one.detached)
    both = a.low == b.low == 0 and a.exactly(0) and b.exactly(0)
    form = "sum_of_squares" if {a.form, b.form} <= {"squares", "sum_of_squares"} else ""
    points = (Point(0.0, "both terms are 0 together", weak=True),) if both and not form else ()
    points = (Point(0.0, "it is 0 when every term is 0"),) if form else points
    free = (a.free or b.free) if all(math.isfinite(x) for v in (a, b) if not v.free for x in (v.low, v.high)) else ""
    return Value(tensor, low, high, points, free, form, a.detached and b.detached)


def times(a: Value, b: Value) -> Value:
    """Return a * b of two different things."""
    tensor = either(a.tensor, b.tensor)
    for one, other in ((a, b), (b, a)):
        if (factor := other.constant) is not None:
            low, high = sorted((product(one.low, factor), product(one.high, factor)))
            form = (
                one.form
                if factor > 0 and one.form in ("squares", "sum_of_squares", "softmax", "sigmoid") and factor == 1
                else ""
            )
            form = one.form if factor > 0 and one.form in ("squares", "sum_of_squares") else form
            points = tuple(replace(p, at=product(p.at, factor)) for p in one.points)
            return Value(tensor, low, high, points if factor else (), one.free if factor else "", form, one.detached)
    corners = [product(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    finite = a.low >= 0 and b.low >= 0
    zero = a.exactly(0) or b.exactly(0)
    form = "bool" if a.form == b.form == "bool" else ""
    return Value(
        tensor,
        min(corners),
        max(corners),
        (replace(zero, at=0.0),) if zero and finite else (),
        "",
        form,
        a.detached and b.detached,
    )


def product(a: float, b: float) -> float:
    """Multiply two bounds, where 0 * inf is 0."""
    return 0.0 if 0 in (a, b) else a * b


def over(a: Value, b: Value) -> Value:
    """Return a / b; only a constant divisor keeps what is known."""
    if b.constant:
        return times(a, Value(b.tensor, 1 / b.constant, 1 / b.constant))
    low = 0.0 if a.low >= 0 and b.low >= 0 else -INF
    high = 0.0 if a.high <= 0 and b.low >= 0 else INF
    return Value(either(a.tensor, b.tensor), low, high, detached=a.detached and b.detached)


def squared(v: Value) -> Value:
    """Return v * v; zero is reached where v is zero, and where nothing is known, by a vector of zeros."""
    points = tuple(replace(p, at=p.at * p.at) for p in v.points) or (
        Point(0.0, "it is 0 where its argument is 0", weak=True),
    )
    high = max(product(v.low, v.low), product(v.high, v.high))
    return Value(v.tensor, 0.0, high, points, "", "square_of_mean" if v.form == "mean" else "squares", v.detached)


def powered(v: Value, exponent: float) -> Value:
    """Return v ** exponent for a constant exponent."""
    if exponent == 2:
        return squared(v)
    if exponent == 1:
        return v
    even = exponent > 0 and exponent % 2 == 0
    if exponent > 0 and (v.low >= 0 or even):
        points = tuple(replace(p, at=abs(p.at) ** exponent) for p in v.points)
        high = INF if INF in (v.high, -v.low) else max(abs(v.low), abs(v.high)) ** exponent
        form = (
            "squares" if even else "norm" if exponent == 0.5 and v.form in ("sum_of_squares", "mean_of_squares") else ""
        )
        return Value(v.tensor, 0.0 if even else v.low**exponent, high, points, "", form, v.detached)
    return Value(v.tensor, 0.0 if v.low >= 0 else -INF, INF, detached=v.detached)


def clamped(v: Value, low: Value | None, high: Value | None) -> Value:
    """Return v between two bounds; a constant bound is taken as reached, for who clamps expects values beyond it."""
    least, most = v.low, v.high
    reached = list(v.points)
    for bound, lower in ((low, True), (high, False)):
        if bound is None:
            continue
        limit = bound.constant
        if limit is None:  # a bound nobody knows may be any guard
            reached = []
            least, most = (bound.low, most) if lower else (least, bound.high)
            continue
        limit = f32(limit)
        cut = max if lower else min
        reached = [replace(p, at=cut(p.at, limit)) for p in reached]
        least, most = (max(least, limit), max(most, limit)) if lower else (min(least, limit), min(most, limit))
        if not any(p.at == limit for p in reached) and (v.low < limit if lower else v.high > limit):
            reached.append(Point(limit, f"the clamp itself lets {limit:g} through"))
    return Value(v.tensor, least, most, tuple(reached), v.free if low is None and high is None else "", "", v.detached)


def mapped(v: Value, function: Callable[[float], float], low: float = -INF, high: float = INF, form: str = "") -> Value:
    """An increasing function of v with its own range."""
    points = tuple(replace(p, at=function(p.at)) for p in v.points)
    least, most = (function(x) if math.isfinite(x) else edge for x, edge in ((v.low, low), (v.high, high)))
    return Value(v.tensor, max(low, least), min(high, most), points, "", form, v.detached)


def joined(values: list[Value]) -> Value:
    """Merge several values into what all of them reach, so that one guarded path silences the others."""
    if not values:
        return UNKNOWN
    first, *rest = values
    for other in rest:
        places = {p.at for p in other.points}
        points = tuple(p for p in first.points if p.at in places or (other.free and p.at > other.low))
        tensor = first.tensor if first.tensor == other.tensor else None
        free = first.free if first.free and other.free else ""
        form = first.form if first.form == other.form else ""
        first = Value(
            tensor,
            min(first.low, other.low),
            max(first.high, other.high),
            points,
            free,
            form,
            first.detached and other.detached,
        )
    return first
