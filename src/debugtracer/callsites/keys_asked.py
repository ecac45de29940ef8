"""Which keys of a mapping a function asks for without failing where they are missing: `batch.get(key)`,
`batch.pop(key, None)`, `key in batch`. Read from its source; nothing is executed."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from debugtracer.callsites.definitions import code_of, frame_at, parsed
from debugtracer.callsites.frames import USER, place_of
from debugtracer.trace.birth import Frame

DEEP = 2  # methods that a method hands its mapping to, one inside the other (ours)
Given = Callable[[ast.expr], bool]
Key = tuple[str, int]


class KeysAsked(NamedTuple):
    """What is asked of one mapping, and what is put into it."""

    asked: dict[str, Frame]
    """The first line for each key whose value is used."""
    written: frozenset[str]


def keys_of_argument(kind: type, method: str, position: int, deep: int = DEEP) -> KeysAsked:
    """What the user's versions of a method ask of one of their arguments (0 is self), with the methods of the same
    object that they hand it to."""
    asked: dict[str, Frame] = {}
    written: set[str] = set()
    for owner in kind.__mro__:
        function = vars(owner).get(method)
        code = code_of(function) if inspect.isfunction(function) else None
        if code is None or place_of(code) != USER or position >= code.co_argcount:
            continue
        tree, shift = source_of(function)
        names = {code.co_varnames[position]}
        names |= set(renamed(tree, names))
        parts = [keys_in(function, tree, shift, functools.partial(is_one_of, names=names))]
        parts += [keys_of_argument(kind, *called, deep - 1) for called in handed_on(tree, names)] if deep else []
        for part in parts:
            asked = {**part.asked, **asked}
            written |= part.written
    return KeysAsked(asked, frozenset(written))


def keys_of_rows(function: Any) -> KeysAsked:
    """What a function of the user's asks of anything that it holds in a local name: the samples of a collate_fn."""
    code = code_of(function)
    if code is None or place_of(code) != USER:
        return KeysAsked({}, frozenset())
    tree, shift = source_of(function)
    return keys_in(function, tree, shift, lambda node: isinstance(innermost(node), ast.Name))


def source_of(function: Any) -> tuple[ast.AST, int]:
    """The syntax tree of a function, and what is added to its lines to have those of the file."""
    line, tree = next(parsed(function), (0, ast.Module([], [])))
    return tree, line - getattr(tree, "lineno", 0)


def keys_in(function: Any, tree: ast.AST, shift: int, given: Given) -> KeysAsked:
    """What one function asks of the mappings that are `given`."""
    thrown, asked, tested = thrown_away(tree), list[Key](), list[Key]()
    uses = [part for node in ast.walk(tree) if (part := subscripted(node, given)) is not None]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop"):
            key = constant(node.args[0]) if node.args and given(node.func.value) and id(node) not in thrown else None
            asked += [(key, node.lineno)] if key is not None else []
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            key = constant(node.left) if given(node.comparators[0]) else None
            tested += [(key, node.lineno)] if key is not None else []
    read = {key for key, context in uses if isinstance(context, ast.Load)} | {key for key, _ in asked}
    lines = sorted([*asked, *((key, line) for key, line in tested if key in read)], key=lambda one: -one[1])
    frames = {key: frame_at(function, line + shift) for key, line in lines}
    written = frozenset(key for key, context in uses if isinstance(context, ast.Store))
    return KeysAsked({key: frame for key, frame in frames.items() if frame is not None}, written)


def subscripted(node: ast.AST, given: Given) -> tuple[str, ast.expr_context] | None:
    """The key of `batch[key]`, and whether it is read or written."""
    key = constant(node.slice) if isinstance(node, ast.Subscript) and given(node.value) else None
    return (key, node.ctx) if key is not None and isinstance(node, ast.Subscript) else None


def thrown_away(tree: ast.AST) -> set[int]:
    """The ids of expressions whose value nobody reads: the key is taken out of the way."""
    loaded = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    found = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and all(isinstance(t, ast.Name) and t.id not in loaded for t in node.targets):
            found.add(id(node.value))
    return found


def constant(node: ast.AST) -> str | None:
    """A string that is written out."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def is_one_of(node: ast.AST, names: set[str]) -> bool:
    """Whether an expression is one of some local names."""
    return isinstance(node, ast.Name) and node.id in names


def innermost(node: ast.AST) -> ast.AST:
    """What a subscript takes its part of."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def renamed(tree: ast.AST, names: set[str]) -> Iterator[str]:
    """Yield names that are the mapping too: `batch = inputs`, `batch = dict(inputs)`, `batch = inputs.copy()`."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        value = node.value
        if isinstance(value, ast.Call):
            copied = isinstance(value.func, ast.Attribute) and value.func.attr == "copy"
            of = value.func.value if isinstance(value.func, ast.Attribute) and copied else None
            value = of if of is not None else value.args[0] if len(value.args) == 1 and is_plain(value.func) else value
        if is_one_of(value, names):
            yield node.targets[0].id


def is_plain(function: ast.expr) -> bool:
    """Whether a call keeps the keys of its argument: dict(x), self._prepare_inputs(x)."""
    return ast.unparse(function) in ("dict", "self._prepare_inputs", "super()._prepare_inputs")


def handed_on(tree: ast.AST, names: set[str]) -> Iterator[tuple[str, int]]:
    """Yield methods of the same object that are given the mapping, with the position there."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if is_one_of(node.func.value, {"self"}):
            yield from ((node.func.attr, 1 + n) for n, one in enumerate(node.args) if is_one_of(one, names))
