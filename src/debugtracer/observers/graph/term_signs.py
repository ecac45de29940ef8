"""Reads from the graph of a loss with which sign a term enters it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from torch import Tensor

from debugtracer.observers.graph.loss_sign import PLAIN
from debugtracer.observers.loss.loss_divisions import number_of

MOST = 20_000  # nodes looked at (ours)
SAME = PLAIN | frozenset(
    {
        "StackBackward", "CatBackward", "ExpBackward", "ClampBackward", "MinimumBackward", "SelectBackward",
        "IndexBackward", "SliceBackward", "AddBackward",
    }
)  # fmt: skip
"""What grows with all that it is made of."""


def signs_of(losses: Iterable[Tensor], roots: Collection[int], products: Collection[int]) -> dict[int, int]:
    """Return for each of these nodes, by its number, whether it raises the losses (1) or lowers them (-1); left out
    where that cannot be said, or both. A product of a term with a weight, that may be a reward, counts as raised by
    the term."""
    stack: list[tuple[Any, int]] = [(loss.grad_fn, 1) for loss in losses if loss.grad_fn is not None]
    seen: set[tuple[Any, int]] = set()
    found: dict[int, set[int]] = {}
    while stack and len(seen) < MOST:
        node, sign = stack.pop()
        if (node, sign) in seen:
            continue
        seen.add((node, sign))
        number = int(node._sequence_nr())
        if number in roots:
            found.setdefault(number, set()).add(sign)
            continue
        stack += [(child, sign * factor) for child, factor in below(node, number in products)]
    return {number: signs.pop() for number, signs in found.items() if len(signs) == 1}


def below(node: Any, is_product: bool) -> list[tuple[Any, int]]:
    """The nodes that one is made of, with the sign of each; none where it is not known."""
    name, inner = node.name().rstrip("0123456789"), [child for child, _ in node.next_functions]
    factors: tuple[int, ...] = ()
    if name in SAME or is_product:
        factors = (1,) * len(inner)
    elif name in ("NegBackward", "RsubBackward"):
        factors = (-1,) * len(inner)
    elif name == "SubBackward":
        factors = (1, -1)
    elif name in ("MulBackward", "DivBackward"):
        number = number_of(node)
        factors = (0 if not number else 1 if number > 0 else -1, 0)
    return [(child, factor) for child, factor in zip(inner, factors, strict=False) if child is not None and factor]
