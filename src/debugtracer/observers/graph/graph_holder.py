"""Which variable or attribute of the program holds the graphs of past steps, and the line that adds to it."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from types import FrameType
from typing import Any, ClassVar

from torch import Tensor, nn

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.definitions import grown_at
from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.program_stack import program_stack
from debugtracer.trace.birth import Frame

NODES = 4000  # nodes of a graph that are walked (ours)
PARTS = 600  # values of a container that are looked at
FRAMES = 8  # user frames that are looked through


class GraphMark:
    """A mark on a graph node, which is freed with the node."""

    KEY: ClassVar[str] = "debugtracer"
    __slots__ = ("__weakref__", "iteration", "step", "what")

    def __init__(self, step: int, iteration: int, what: str) -> None:
        self.step, self.iteration, self.what = step, iteration, what


def held_most(frame: FrameType | None, what: str, alive: int) -> tuple[str, Frame | None]:
    """Name and line of what holds at least half of the marked graphs; ("", None) when nothing on the stack does."""
    best, name, line = 0, "", None
    for user in islice(program_stack(frame), FRAMES):
        for candidate, value, functions in names_in(user):
            count = reached(value, what)
            if count > best:
                best, name = count, candidate
                line = next((at for function in functions if (at := grown_at(function, candidate))), None)
    return (name, line) if 2 * best >= alive else ("", None)


def names_in(frame: FrameType) -> Iterator[tuple[str, Any, list[Any]]]:
    """Yield locals, globals in use and attributes of the user's objects, each with functions that may add to them."""
    used = {name: frame.f_globals[name] for name in frame.f_code.co_names if name in frame.f_globals}
    for name, value in {**used, **locals_of(frame)}.items():
        if holds(value):
            yield name, value, [frame.f_code]
        elif isinstance(value, nn.Module) or is_user_file(source_of(type(value))):
            functions = [f for owner in type(value).__mro__ for f in vars(owner).values() if inspect.isfunction(f)]
            for attribute, part in list(getattr(value, "__dict__", {}).items()):
                if holds(part):
                    yield f"self.{attribute}", part, functions


def source_of(kind: type) -> str:
    """The file of a class; a made-up name where it has none."""
    module = inspect.getmodule(kind)
    return getattr(module, "__file__", None) or ("<stdin>" if kind.__module__ == "__main__" else "<unknown>")


def holds(value: Any) -> bool:
    """True for a tensor with a graph, or a container."""
    return (isinstance(value, Tensor) and value.grad_fn is not None) or isinstance(
        value, (list, tuple, dict, deque, set)
    )


def reached(value: Any, what: str) -> int:
    """Count the marks that a value keeps alive."""
    found: set[int] = set()
    queue: deque[Any] = deque(tensor.grad_fn for tensor in tensors_in(value) if tensor.grad_fn is not None)
    seen: set[Any] = set()
    while queue and len(seen) < NODES:
        node = queue.popleft()
        if node is None or node in seen:
            continue
        seen.add(node)
        mark = node.metadata.get(GraphMark.KEY)
        if mark is not None and mark.what == what:
            found.add(id(mark))
        queue.extend(after for after, _ in node.next_functions)
    return len(found)


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Yield the tensors of a value or container, one level of containers inside it."""
    if isinstance(value, Tensor):
        yield value
        return
    parts = list(value.values() if isinstance(value, Mapping) else value)[-PARTS:]
    for part in parts:
        if isinstance(part, Tensor):
            yield part
        elif isinstance(part, (list, tuple, deque)):
            yield from (inner for inner in list(part)[-PARTS:] if isinstance(inner, Tensor))
        elif isinstance(part, Mapping):
            yield from (inner for inner in list(part.values())[-PARTS:] if isinstance(inner, Tensor))
