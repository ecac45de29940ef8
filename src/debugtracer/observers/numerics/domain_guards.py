"""What keeps an input away from an edge: an eps that was added, a clamp, a maximum, a choice; found by the node of the
graph it comes from."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from debugtracer.observers.numerics.domain_margin import DomainMargin, distance_of

ADDED = frozenset({"add", "add_", "__add__", "__radd__", "__iadd__"})
LOWER = frozenset({"clamp", "clamp_", "clip", "clip_", "clamp_min", "clamp_min_", "maximum", "max"})
UPPER = frozenset({"clamp", "clamp_", "clip", "clip_", "clamp_max", "clamp_max_", "minimum", "min"})
AWAY = frozenset({"sub", "rsub", "__sub__", "__rsub__", "subtract"})
GUARDS = ADDED | LOWER | UPPER | AWAY
CHOSEN = ("Where", "MaskedFill", "NanToNum")
VIEWS = (
    "View",
    "Unsafe",
    "Reshape",
    "Squeeze",
    "Unsqueeze",
    "Transpose",
    "Permute",
    "T0",
    "Clone",
    "Slice",
    "Select",
    "Alias",
    "Expand",
    "Split",
    "Index",
    "Gather",
)
MOST = 1024  # guards remembered of one step (ours)


class Guard(NamedTuple):
    """What is known of the values of one tensor."""

    low: float = -math.inf
    high: float = math.inf
    offset: float = 0.0
    """The number it was subtracted from: 1 - p is rounded like 1."""
    holds: bool = False
    """It cannot come nearer to the edge than the guard allows."""


class Guards:
    """The guards of one step, by the sequence number of their node."""

    def __init__(self) -> None:
        self.known: dict[int, Guard] = {}

    def clear(self) -> None:
        """Drop what is known at the end of a step."""
        self.known.clear()

    def remember(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Remember a call that bounds its output by a constant."""
        # nothing is recorded; and the grad_fn of a view that was just written would raise
        if not torch.is_grad_enabled():
            return
        node = output.grad_fn if isinstance(output, Tensor) else None
        if node is None or len(self.known) >= MOST:
            return
        constants = [value for value in map(constant, args) if value is not None]
        low = high = None
        if name.startswith(("clamp", "clip")):
            low = constant(kwargs.get("min", args[1] if len(args) > 1 and "_max" not in name else None))
            high = constant(
                kwargs.get("max", args[2] if len(args) > 2 else args[1] if len(args) > 1 and "_max" in name else None)
            )
        elif name in ("max", "maximum") or name in ADDED:
            low = constants[0] if constants and len(args) == 2 else None
        elif name in ("min", "minimum"):
            high = constants[0] if constants and len(args) == 2 else None
        offset = abs(constants[0]) if name in AWAY and constants else 0.0
        if low is not None or high is not None or offset:
            self.known[node._sequence_nr()] = Guard(
                -math.inf if low is None else low, math.inf if high is None else high, offset
            )

    def root(self, of: Guard, output: Tensor) -> None:
        """Remember that the root of what is guarded is guarded too: `x / sqrt(v + eps)`."""
        if output.grad_fn is not None and 0 < of.low < math.inf:
            self.known[output.grad_fn._sequence_nr()] = Guard(math.sqrt(of.low))

    def of(self, margin: DomainMargin) -> Guard:
        """The guard of an argument, seen through views; `holds` when its values are where the guard says."""
        node = margin.given.grad_fn
        for _ in range(8):
            if node is None:
                break
            if node.name().startswith(CHOSEN):
                return Guard(holds=True)  # a place where somebody has already thought of the edge
            guard = self.known.get(node._sequence_nr())
            if guard is not None:
                return guard._replace(holds=holds(guard, margin))
            if not node.name().startswith(VIEWS) or not node.next_functions:
                break
            node = node.next_functions[0][0]
        return Guard()


def holds(guard: Guard, margin: DomainMargin) -> bool:
    """True if the bound is on the safe side of the edge and the values keep to it (no eps added to negative values)."""
    given = margin.given.detach()
    with torch.no_grad():
        if margin.kind == "overflow":
            return guard.high < math.inf and float(distance_of(margin).item()) >= 0
        if margin.kind == "unit":
            return (guard.high < 1 or guard.low > -1) and float(distance_of(margin).item()) > 0
        return guard.low > margin.at and float(given.amin().item()) >= margin.at + 0.5 * (guard.low - margin.at)


def constant(value: Any) -> float | None:
    """A number, or a tensor of one value that is not learnt."""
    if isinstance(value, Tensor):
        return float(value.item()) if value.numel() == 1 and not value.requires_grad else None
    return float(value) if isinstance(value, (int, float)) else None
