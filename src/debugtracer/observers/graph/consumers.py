"""Which operations of a graph use a leaf."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import Tensor

from debugtracer.observers.graph.graph_walk import MOST_NODES


def consumers(outputs: Iterable[Tensor], wanted: set[int], most: int = MOST_NODES) -> dict[int, set[str]]:
    """Map the ids of those leaves that are reached to the names of the nodes that take them. Keeps no node alive."""
    stack: list[Any] = [t.grad_fn for t in outputs if t.grad_fn is not None]
    seen = set(stack)
    found: dict[int, set[str]] = {}
    while stack and len(seen) < most:
        node = stack.pop()
        for child, _ in node.next_functions:
            if child is None:
                continue
            leaf = getattr(child, "variable", None)
            if isinstance(leaf, Tensor) and id(leaf) in wanted:
                found.setdefault(id(leaf), set()).add(node.name())
            if child not in seen:
                seen.add(child)
                stack.append(child)
    return found
