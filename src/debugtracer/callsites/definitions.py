"""Lines of the user's source that cannot be taken from a stack: where a class sets an attribute, where a function is
defined, where a name is added to."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import textwrap
from collections.abc import Iterator
from types import CodeType
from typing import Any
from weakref import ref

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.notebook_cells import file_of
from debugtracer.trace.birth import Frame

ADDS = ("append", "extend", "add", "appendleft", "insert")  # methods by which a container grows
SET_AT: dict[int, tuple[ref[type], dict[str, Frame | None]]] = {}
"""Id of a class -> the class, and attribute -> the line that sets it; by id, for a metaclass may compare as it
likes."""


def assigned_at(kind: type, attribute: str) -> Frame | None:
    """The line of a class of the user's (or a base of it) that sets `self.attribute`, in __init__ if it is set there;
    None if no source can be read. Read once for each: a checkpoint asks for all of a program's at each save."""
    known = SET_AT.get(id(kind))
    if known is None or known[0]() is not kind:
        known = SET_AT[id(kind)] = ref(kind), {}
    if attribute not in known[1]:
        known[1][attribute] = first_set(kind, attribute)
    return known[1][attribute]


def first_set(kind: type, attribute: str) -> Frame | None:
    """The same, read from the source."""
    for owner in kind.__mro__:
        for function in sorted(
            (f for f in vars(owner).values() if inspect.isfunction(f) and names(f.__code__, attribute)),
            key=lambda f: f.__name__ != "__init__",
        ):
            for line, node in parsed(function):
                if isinstance(node, (ast.Assign, ast.AnnAssign)) and any(
                    sets(target, attribute) for target in targets_of(node)
                ):
                    return frame_at(function, line)
    return None


def names(code: CodeType, attribute: str) -> bool:
    """Whether a function, or one inside it, has an attribute of this name; a private one is kept under a longer
    name."""
    return any(name.endswith(attribute) for name in code.co_names) or any(
        isinstance(inner, CodeType) and names(inner, attribute) for inner in code.co_consts
    )


def zeroed_at(kind: type, attribute: str) -> Frame | None:
    """The line of a class of the user's that fills `self.attribute` with zeros after it was set (`nn.init.zeros_`,
    `.zero_()`), else the line that sets it."""
    for owner in kind.__mro__:
        for function in [f for f in vars(owner).values() if inspect.isfunction(f)]:
            for line, node in parsed(function):
                if isinstance(node, ast.Call) and zeroes(node, attribute):
                    return frame_at(function, line)
    return assigned_at(kind, attribute)


def zeroes(call: ast.Call, attribute: str) -> bool:
    """Whether a call fills `self.attribute` with zeros."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    given = call.func.value if name == "zero_" and isinstance(call.func, ast.Attribute) else next(iter(call.args), None)
    if name not in ("zero_", "zeros_") or given is None:
        return False
    return any(isinstance(part, ast.Attribute) and sets(part, attribute) for part in ast.walk(given))


def grown_at(function: Any, name: str) -> Frame | None:
    """The line of a function or code object that adds to a name (`total += x`, `total = total + x`, `rows.append(x)`);
    also to an attribute, `self.total`."""
    return next((frame_at(function, line) for line, node in parsed(function) if grows(node, name)), None)


def grows(node: ast.AST, name: str) -> bool:
    """Whether one statement or call adds to a name."""
    if isinstance(node, ast.AugAssign):
        return ast.unparse(node.target) == name
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ADDS and ast.unparse(node.func.value).split("[")[0] == name
    if not isinstance(node, ast.Assign):
        return False
    if any(isinstance(target, ast.Subscript) and ast.unparse(target.value) == name for target in node.targets):
        return True
    reads = any(
        isinstance(part, (ast.Name, ast.Attribute)) and ast.unparse(part) == name for part in ast.walk(node.value)
    )
    return reads and any(ast.unparse(target) == name for target in node.targets)


def defined_at(function: Any) -> Frame | None:
    """The first line of a Python function of the user's, also inside a partial."""
    while isinstance(function, functools.partial):
        function = function.func
    code = getattr(inspect.unwrap(function) if callable(function) else function, "__code__", None)
    return frame_at(function, code.co_firstlineno) if code is not None else None


def returned_at(function: Any) -> Frame | None:
    """The last line of a function of the user's that returns; None where it cannot be read."""
    lines = [line for line, node in parsed(function) if isinstance(node, ast.Return)]
    return frame_at(function, max(lines)) if lines else None


def parsed(function: Any) -> Iterator[tuple[int, ast.AST]]:
    """The nodes of its source with their lines in the file; nothing where it cannot be read or is a library's."""
    code = code_of(function)
    if code is None or not is_user_file(code.co_filename):
        return
    try:
        lines, first = (
            (linecache.getlines(code.co_filename), 1) if code.co_name == "<module>" else inspect.getsourcelines(code)
        )
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.Call)):
            yield first + node.lineno - 1, node


def code_of(function: Any) -> Any:
    """The code of a function; a code object is its own."""
    return function if inspect.iscode(function) else getattr(function, "__code__", None)


def targets_of(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    """What an assignment writes, tuples taken apart."""
    flat = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [
        part for target in flat for part in (target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target])
    ]


def sets(target: ast.expr, attribute: str) -> bool:
    """True for `self.attribute` as a target."""
    return isinstance(target, ast.Attribute) and target.attr == attribute and isinstance(target.value, ast.Name)


def frame_at(function: Any, line: int) -> Frame | None:
    """Return that line of the file a function is defined in, None if it is not the user's."""
    code = code_of(function)
    if code is None or not is_user_file(code.co_filename):
        return None
    return Frame(
        file_of(code.co_filename),
        line,
        getattr(code, "co_qualname", code.co_name),
        linecache.getline(code.co_filename, line).strip(),
    )
