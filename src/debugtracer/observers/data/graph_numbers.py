"""Looks for nodes of an autograd graph by their sequence numbers, which name them without keeping them alive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import Tensor

MOST_NODES = 20_000  # of one graph (ours: a twentieth of a second)


def numbers_in(outputs: Iterable[Tensor], wanted: set[int]) -> set[int]:
    """Return those of the wanted numbers that a backward of these would pass."""
    stack: list[Any] = [t.grad_fn for t in outputs if t.grad_fn is not None]
    seen: set[Any] = set(stack)
    found: set[int] = set()
    while stack and len(seen) < MOST_NODES and len(found) < len(wanted):
        node = stack.pop()
        if node._sequence_nr() in wanted:
            found.add(node._sequence_nr())
        for child, _ in node.next_functions:
            if child is not None and child not in seen:
                seen.add(child)
                stack.append(child)
    return found
