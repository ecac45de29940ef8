"""Takes a loss apart by its graph: the nodes of its summands, and what hangs on each."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from torch import Tensor

SUMS = frozenset({"AddBackward0", "SubBackward0", "RsubBackward0"})
ALONG = frozenset({*SUMS, "MulBackward0", "DivBackward0", "NegBackward0", "ToCopyBackward0", "ViewBackward0"})
"""What gives a number for a number."""
JOINED = frozenset(
    {
        "MeanBackward0", "MeanBackward1", "SumBackward0", "SumBackward1", "StackBackward0", "CatBackward0",
        "SqueezeBackward0", "SqueezeBackward1", "UnsqueezeBackward0", "ReshapeAliasBackward0",
    }
)  # fmt: skip
"""What adds up, or joins, the values of tensors."""


def summands(losses: Iterable[Tensor], most: int, *, joined: bool = False) -> list[Any]:
    """The nodes of the summands of scalar losses that have a graph, in the order of the program's sums; factors are
    passed, and means and sums of many values where `joined`. Empty where there are more than `most`."""
    stack: list[Any] = [loss.grad_fn for loss in losses if loss.grad_fn is not None and loss.numel() == 1][::-1]
    found: list[Any] = []
    while stack:
        node = stack.pop()
        children = [child for child, _ in node.next_functions if child is not None]
        name = node.name()
        if children and (name in SUMS or (len(children) == 1 and name in ALONG) or (joined and name in JOINED)):
            stack.extend(reversed(children))
        else:
            found.append(node)
        if len(found) + len(stack) > most:
            return []
    return found


def hanging(node: Any, most: int, without: Collection[int] = ()) -> tuple[set[int], set[int]] | None:
    """The ids of the leaves below a node, and the numbers of the nodes, not past those `without`; None for a graph of
    more than `most`. Keeps no node alive."""
    stack, seen = [node], {node}
    found: set[int] = set()
    while stack:
        one = stack.pop()
        leaf = getattr(one, "variable", None)
        if isinstance(leaf, Tensor):
            found.add(id(leaf))
        if without and int(one._sequence_nr()) in without:
            continue
        for child, _ in one.next_functions:
            if child is not None and child not in seen:
                seen.add(child)
                stack.append(child)
        if len(seen) > most:
            return None
    return found, {int(one._sequence_nr()) for one in seen}
