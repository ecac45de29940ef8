"""Walks an autograd graph down to its leaves."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from torch import Tensor, nn

MOST_NODES = 100_000  # nodes looked at of one graph (ours: a quarter of a second)
MOST_PART_NODES = 20_000  # of a part of one, where several are walked in a step (ours: 50 ms)


def leaves(outputs: Iterable[Tensor], most: int = MOST_NODES, without: Collection[int] = ()) -> dict[int, Tensor]:
    """The leaf tensors that a backward of these would reach, by id; not past the nodes `without`, by their numbers.
    Keeps no node alive."""
    found = {id(t): t for t in outputs if t.requires_grad and t.grad_fn is None}
    stack: list[Any] = [t.grad_fn for t in outputs if t.grad_fn is not None]
    seen = set(stack)
    while stack and len(seen) < most:
        node = stack.pop()
        leaf = getattr(node, "variable", None)
        if leaf is not None and isinstance(leaf, Tensor):
            found[id(leaf)] = leaf
        if without and int(node._sequence_nr()) in without:
            continue
        for child, _ in node.next_functions:
            if child is not None and child not in seen:
                seen.add(child)
                stack.append(child)
    return found


def numbers(outputs: Iterable[Tensor], most: int = MOST_NODES, without: Collection[int] = ()) -> set[int]:
    """The sequence numbers of the nodes that a backward of these would run; not past the nodes `without`. Keeps no node
    alive."""
    stack: list[Any] = [t.grad_fn for t in outputs if t.grad_fn is not None]
    seen = set(stack)
    while stack and len(seen) < most:
        node = stack.pop()
        if without and int(node._sequence_nr()) in without:
            continue
        for child, _ in node.next_functions:
            if child is not None and child not in seen:
                seen.add(child)
                stack.append(child)
    return {int(node._sequence_nr()) for node in seen}


def parameter_ids(found: dict[int, Tensor]) -> frozenset[int]:
    """The ids of those leaves that are parameters."""
    return frozenset(key for key, leaf in found.items() if isinstance(leaf, nn.Parameter))


def node_of(tensor: Tensor) -> Any:
    """The node that made a tensor; None without a graph, and for a view that was made without one and written since,
    of which torch does not let it be asked."""
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def has_graph(tensor: Tensor) -> bool:
    """Whether some node made it."""
    return node_of(tensor) is not None
