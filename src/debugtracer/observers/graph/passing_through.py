"""Which leaves a backward reaches past the parameters of a network, and which through them alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import Tensor

from debugtracer.observers.graph.graph_walk import MOST_NODES

LINKS = 4  # nodes between an operation and its parameter: a transpose, a cast (ours)


def leaf_of(node: Any) -> Tensor | None:
    """The leaf that a node hands its gradient to, straight or through nodes with one child."""
    for _ in range(LINKS):
        if node is None:
            return None
        leaf = getattr(node, "variable", None)
        if isinstance(leaf, Tensor):
            return leaf
        if len(node.next_functions) != 1:
            return None
        node = node.next_functions[0][0]
    return None


def reached_past(outputs: Iterable[Tensor], blocked: set[int], most: int = MOST_NODES) -> set[int]:
    """The ids of the leaves that are reached without an operation on one of the blocked leaves on the way. Keeps no
    node alive."""
    stack: list[Any] = [t.grad_fn for t in outputs if t.grad_fn is not None]
    seen, found = set(stack), set()
    while stack and len(seen) < most:
        node = stack.pop()
        children = [child for child, _ in node.next_functions if child is not None]
        direct = [leaf for child in children if (leaf := leaf_of(child)) is not None]
        if any(id(leaf) in blocked for leaf in direct):
            continue
        found |= {id(leaf) for leaf in direct}
        for child in children:
            if child not in seen:
                seen.add(child)
                stack.append(child)
    return found
