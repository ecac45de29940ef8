"""The generators in the globals of the functions that a dataset is read with: a fork copies them into each worker."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.definitions import assigned_at
from debugtracer.callsites.nested_code import with_nested
from debugtracer.callsites.notebook_cells import file_of
from debugtracer.callsites.origins.written_names import writes_of
from debugtracer.observers.program.generator_state import OPAQUE, HeldGenerator, children_of, is_generator
from debugtracer.trace.birth import Frame

MOST, DEPTH = 200, 4  # functions and objects that are looked through, levels (ours)


def generators_called(*readers: Any) -> list[HeldGenerator]:
    """The generators that the user's functions of these objects (a dataset, a collate function) and those they call
    name as globals; runs no code of theirs."""
    found: dict[int, HeldGenerator] = {}
    for function in functions_of(readers):
        space = function.__globals__
        for name in names_in(function.__code__):
            if is_generator(value := space.get(name)):
                found.setdefault(id(value), HeldGenerator(name, value, function, ""))
    return list(found.values())


def functions_of(readers: tuple[Any, ...]) -> Iterator[FunctionType]:
    """The user's functions that are reached from these objects: methods, functions that they hold or call by name."""
    seen: set[int] = set()
    queue = [(reader, DEPTH) for reader in readers]
    while queue and len(seen) < MOST:
        value, depth = queue.pop(0)
        value = value.__func__ if isinstance(value, MethodType) else value
        if id(value) in seen:
            continue
        seen.add(id(value))
        if not isinstance(value, FunctionType):
            held = parts_of(value)
        elif is_user_file(value.__code__.co_filename):
            yield value
            named = (value.__globals__.get(name) for name in names_in(value.__code__))
            held = [called for called in named if isinstance(called, FunctionType)]
        else:
            continue
        if depth:
            queue += [(each, depth - 1) for each in held]


def parts_of(value: Any) -> list[Any]:
    """The methods of an object and what it holds; nothing of numbers, texts and tensors."""
    if isinstance(value, OPAQUE):
        return []
    methods = [f for kind in type(value).__mro__ for f in vars(kind).values() if isinstance(f, FunctionType)]
    return [*methods, *(child for _, _, child in children_of(value) if child is not None)]


def names_in(code: CodeType) -> Iterator[str]:
    """The names that a function reads as globals, the functions inside it too."""
    return (name for one in with_nested(code) for name in one.co_names)


def written_at(held: HeldGenerator) -> Frame | None:
    """The line that gives a generator its name: of a class, or at the top of a module; reads source."""
    if not isinstance(held.holder, FunctionType):
        return assigned_at(type(held.holder), held.attribute) if held.attribute else None
    file = held.holder.__code__.co_filename
    lines = linecache.getlines(file)
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return None
    written = [w.node.lineno for part in tree.body for w in writes_of(part, held.path) if w.node is part]
    return Frame(file_of(file), written[0], "<module>", lines[written[0] - 1].strip()) if written else None
