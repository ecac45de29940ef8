"""Lists and deques that the user's running functions can reach, whose last entries hold one and the same array, or
arrays over one memory."""

from __future__ import annotations

import ast
import inspect
import itertools
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np
import torch
from torch.optim import Optimizer

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.definitions import frame_at, grown_at, parsed
from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.program_stack import program_stack
from debugtracer.trace.birth import Frame

FEWEST = 8  # entries one after the other that hold the same array (ours)
DEEPEST = 3  # attributes from a name of a function (ours)
MOST = 2000  # objects looked at (ours)
IN_PLACE = frozenset({"copy_", "add_", "sub_", "mul_", "div_", "clamp_", "fill_", "fill", "copyto"})


@dataclass(frozen=True)
class Held:
    """An object that a name or an attribute holds; `owner` is the object of the attribute, or the code of the
    function."""

    value: Any
    name: str
    owner: Any

    def where(self) -> str:
        """How a person would call it: `ReplayBuffer.data`, `states`."""
        return self.name if isinstance(self.owner, CodeType) else f"{type(self.owner).__name__}.{self.name}"


@dataclass(frozen=True)
class Repeated:
    """The array that the last entries of a container hold."""

    held: Held
    array: Any
    places: tuple[str, ...]
    entries: int


def reachable() -> list[Held]:
    """What the user's functions on the stack hold, and the attributes of objects of the user's classes."""
    found: list[Held] = []
    waiting: deque[tuple[Held, int]] = deque()
    for frame in program_stack(sys._getframe(1)):
        waiting.extend((Held(value, name, frame.f_code), 0) for name, value in locals_of(frame).items())
    seen: set[int] = set()
    while waiting and len(found) < MOST:
        held, depth = waiting.popleft()
        if id(held.value) in seen and not is_array(held.value) and not isinstance(held.value, (list, deque)):
            continue
        seen.add(id(held.value))
        found.append(held)
        if depth < DEEPEST and is_own(held.value):
            inside = list(vars(held.value).items())[:64]
            waiting.extend((Held(value, name, held.value), depth + 1) for name, value in inside)
    return found


def is_own(value: Any) -> bool:
    """Whether an object is of a class of the user's, and neither a model nor an optimizer."""
    if isinstance(value, (type, torch.nn.Module, Optimizer)) or not hasattr(value, "__dict__"):
        return False
    module = sys.modules.get(type(value).__module__)
    file = getattr(module, "__file__", None)
    return file is not None and is_user_file(file)


def is_array(value: Any) -> bool:
    """Whether a value is an array of numbers, more than one."""
    if isinstance(value, torch.Tensor):
        dense = value.layout is torch.strided and not value.is_nested and not value.is_quantized
        return dense and value.device.type == "cpu" and value.numel() > 1 and not value.requires_grad
    return isinstance(value, np.ndarray) and value.size > 1 and value.dtype.kind in "fiub"


def repeated(every: list[Held]) -> Iterator[Repeated]:
    """The containers whose last entries hold one array, each with it."""
    for held in every:
        if isinstance(held.value, (list, deque)) and len(held.value) >= FEWEST:
            inside = parts_of(held.value[-1])
            for place, array in inside.items():
                count = run_of(held.value, place, array) if is_array(array) else 0
                if count >= FEWEST:
                    same = [p for p, value in inside.items() if p is not None and same_memory(value, array)]
                    yield Repeated(held, array, tuple(map(str, same)), count)
                    break


def parts_of(entry: Any) -> dict[Any, Any]:
    """What one entry holds, by place or name; None stands for the entry itself."""
    if isinstance(entry, (tuple, list)):
        return dict(enumerate(entry[:64]))
    if isinstance(entry, dict):
        return dict(itertools.islice(entry.items(), 64))
    return dict(vars(entry)) if is_own(entry) else {None: entry}


def run_of(container: Any, place: Any, array: Any) -> int:
    """How many of the last entries hold an array at a place, or another one over its memory."""
    last = itertools.islice(reversed(container), 1024)
    return sum(1 for _ in itertools.takewhile(lambda entry: same_memory(parts_of(entry).get(place), array), last))


def same_memory(one: Any, other: Any) -> bool:
    """Whether two arrays show the same values wherever one of them is written to: `torch.from_numpy(x)` of one x."""
    if one is other:
        return True
    if not (is_array(one) and is_array(other)):
        return False
    return bool(memory_of(one) == memory_of(other))


def memory_of(array: Any) -> tuple[int, int]:
    """Where the values of an array of numbers begin, and how many they are."""
    if isinstance(array, torch.Tensor):
        return array.data_ptr(), array.numel()
    return int(array.__array_interface__["data"][0]), int(array.size)


def added_at(held: Held) -> Frame | None:
    """The line that adds to a container."""
    if isinstance(held.owner, CodeType):
        return grown_at(held.owner, held.name)
    for function in methods(held.owner):
        line = grown_at(function, f"self.{held.name}")
        if line is not None:
            return line
    return None


def methods(value: Any) -> list[Any]:
    """The functions of the class of an object and of its bases."""
    return [f for kind in type(value).__mro__ for f in vars(kind).values() if inspect.isfunction(f)]


def keeper_of(array: Any, every: list[Held]) -> tuple[Held, Frame] | None:
    """The object that holds an array as an attribute and writes into it, with the line that does: in a method that does
    not make it anew, if there is one."""
    for held in every:
        if isinstance(held.owner, CodeType) or not same_memory(held.value, array):
            continue
        name, found = f"self.{held.name}", []
        for function in methods(held.owner):
            nodes = list(parsed(function))
            anew = any(isinstance(n, ast.Assign) and name in map(ast.unparse, n.targets) for _, n in nodes)
            found += [(anew, frame_at(function, line)) for line, node in nodes if writes_into(node, name)]
        lines = [at for _, at in sorted(found, key=lambda pair: pair[0]) if at is not None]
        if lines:
            return held, lines[0]
    return None


def writes_into(node: ast.AST, name: str) -> bool:
    """Whether a statement or a call changes the values of an array: `x[...] = y`, `x += y`, `x.add_(y)`,
    `f(..., out=x)`."""
    if isinstance(node, ast.Assign):
        flat = [p for t in node.targets for p in (t.elts if isinstance(t, (ast.Tuple, ast.List)) else [t])]
        return any(isinstance(t, ast.Subscript) and ast.unparse(t.value) == name for t in flat)
    if isinstance(node, ast.AugAssign):
        target = node.target.value if isinstance(node.target, ast.Subscript) else node.target
        return ast.unparse(target) == name
    if isinstance(node, ast.Call):
        given = [k.value for k in node.keywords if k.arg == "out"]
        if isinstance(node.func, ast.Attribute) and node.func.attr in IN_PLACE:
            given += [node.func.value, *node.args[:1]]
        return any(ast.unparse(value) == name for value in given)
    return False
