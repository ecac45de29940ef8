"""A weight that was bad before the loss was computed, found among the leaves of its graph: nothing has to be executed
again for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from torch import Tensor
from torch.autograd.graph import Node

from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.state.roots import Roots, plain_path
from debugtracer.replay.lines_again import is_bad
from debugtracer.replay.op_trace.classes import facts_of
from debugtracer.trace.birth import Birth

MOST = 20_000  # nodes of a graph that are looked at (ours)


def bad_weight(alarm: Alarm, name_of: Callable[[Tensor], str | None]) -> Birth | None:
    """The first leaf behind the loss that has a name and is not finite, as what was bad on entry. Syncs the host."""
    end = alarm.loss.grad_fn if alarm.loss is not None else None
    for leaf in leaves(end) if end is not None else ():
        name = name_of(leaf)
        if name is not None and is_bad(leaf.detach(), with_infinite=True):
            return Birth(
                op=None, direction="input", kind="input", input_name=name, output=facts_of(leaf.detach(), name)
            )
    return None


def leaves(end: Node) -> Iterator[Tensor]:
    """The tensors whose gradients a backward from here would write, nearest first."""
    seen, queue = {end}, deque([end])
    while queue and len(seen) < MOST:
        node = queue.popleft()
        leaf = getattr(node, "variable", None)
        if isinstance(leaf, Tensor):
            yield leaf
        for parent, _ in node.next_functions:
            if parent is not None and parent not in seen:
                seen.add(parent)
                queue.append(parent)


def names_in(roots: Roots) -> Callable[[Tensor], str | None]:
    """What says the path of a parameter below the root that holds it, as in `parameter body.0.weight`."""

    def name_of(tensor: Tensor) -> str | None:
        for module, root in list(roots.known.items()):
            top = (root.owner() if root.owner is not None else None) or module
            for path, parameter in top.named_parameters():
                if parameter is tensor:
                    return f"parameter {plain_path(path)}"
        return None

    return name_of
