"""The writes to one name in a piece of the user's source: assignments, writes into it, a buffer registered; and what a
function returns."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from debugtracer.source.program import Program

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
ADDS = ("append", "add", "extend", "appendleft")
REGISTERS = ("register_buffer", "register_parameter")


@dataclass(frozen=True)
class Written:
    """One statement that writes a name. `value` is None where it is not taken from one expression."""

    node: ast.stmt
    value: ast.expr | None
    part: int | str | None = None
    """The place of the name, where a tuple is taken apart."""
    key: str | None = None
    """The only part that is written, where it is written out: `x["labels"] = y`, `x["labels"].append(y)`."""

    def reaches(self, part: int | str | None) -> bool:
        """Whether it may write this part; any where no key is meant."""
        return self.key is None or not isinstance(part, str) or part == self.key


def writes_of(holder: ast.AST, name: str) -> list[Written]:
    """The statements in a piece of source that write a name (`x`, `self.x`), in the order of the text."""
    return [w for node, text in writing(holder) if name in text for w in writes(node, name)]


@functools.lru_cache(512)
def writing(holder: ast.AST) -> tuple[tuple[ast.stmt, str], ...]:
    """The statements that write anything, in the order of the text, each with what it writes: a name that it writes
    is a part of that. Kept, since one question asks for many names."""
    found = [(n, text) for n in ast.walk(holder) if isinstance(n, ast.stmt) and (text := written_text(n))]
    return tuple(sorted(found, key=lambda one: one[0].lineno))


def written_text(node: ast.stmt) -> str:
    """The left side of an assignment, or what a call of its own is made of; empty for any other statement."""
    if isinstance(node, ast.Assign):
        return " ".join(map(ast.unparse, node.targets))
    if isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        return ast.unparse(node.target)
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return ""
    held, first = node.value.func, node.value.args[0] if node.value.args else None
    named = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
    if not isinstance(held, ast.Attribute):
        return ""
    whole = ast.unparse(held)
    return f"{whole} {ast.unparse(base(held.value))}.{named}" if held.attr in REGISTERS else whole


def writes(node: ast.stmt, name: str) -> Iterator[Written]:
    """What one statement writes to the name."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from assigned(node, target, node.value, name)
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield from assigned(node, node.target, node.value, name)
    elif isinstance(node, ast.AugAssign) and ast.unparse(base(node.target)) == name:
        yield Written(node, None, key=key_of(node.target))
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from called(node, node.value, name)


def assigned(node: ast.stmt, target: ast.expr, value: ast.expr, name: str) -> Iterator[Written]:
    """What an assignment writes: the whole, its place in a tuple, or a part of it."""
    if isinstance(target, (ast.Tuple, ast.List)):
        same = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
        for place, one in enumerate(target.elts):
            if ast.unparse(one) == name:
                given = value.elts[place] if same and isinstance(value, (ast.Tuple, ast.List)) else value
                yield Written(node, given, None if same else place)
    elif ast.unparse(target) == name or (isinstance(target, ast.Subscript) and ast.unparse(base(target)) == name):
        yield Written(node, value, key=key_of(target))


def called(node: ast.Expr, call: ast.Call, name: str) -> Iterator[Written]:
    """What a call of its own writes: `x.fill_(...)`, `self.register_buffer("x", ...)`."""
    if not isinstance(call.func, ast.Attribute):
        return
    held = ast.unparse(base(call.func.value))
    in_place = call.func.attr.endswith("_") and not call.func.attr.endswith("__")
    key = key_of(call.func.value)
    if in_place and held == name:
        yield Written(node, None, key=key)
    first = call.args[0] if call.args else None
    if call.func.attr in ADDS and held == name and first is not None:
        yield Written(node, first, key=key)
    named = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
    if call.func.attr in REGISTERS and named and f"{held}.{named}" == name:
        yield Written(node, call.args[1] if len(call.args) > 1 else None)


def registered_in_loops(program: Program, owner: ast.ClassDef) -> Iterator[tuple[Function, ast.For, ast.expr]]:
    """Yield loops of a class that register buffers under the keys of a dictionary, the function around each and the
    dictionary: `for k, v in tables().items(): self.register_buffer(k, v)`."""
    for loop in (n for n in ast.walk(owner) if isinstance(n, ast.For)):
        method = loop.iter.func if isinstance(loop.iter, ast.Call) else None
        key = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) and loop.target.elts else None
        if not isinstance(method, ast.Attribute) or method.attr != "items" or not isinstance(key, ast.Name):
            continue
        calls = [n for n in ast.walk(loop) if isinstance(n, ast.Call) and final_name(n.func) in REGISTERS and n.args]
        named = any(isinstance(call.args[0], ast.Name) and call.args[0].id == key.id for call in calls)
        scope = program.function(loop)
        if named and isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield scope, loop, method.value


def base(target: ast.expr) -> ast.expr:
    """The name that an indexed expression is a part of."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target


def key_of(target: ast.expr) -> str | None:
    """The key that is written out next to the name: "labels" of `x["labels"][0]`; None without one."""
    key = None
    while isinstance(target, ast.Subscript):
        key, target = target.slice, target.value
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None


def returns(program: Program, function: Function) -> list[ast.Return | ast.Expr]:
    """The return statements of a function, and its yields, in the order of the text."""
    found: list[ast.Return | ast.Expr] = []
    for node in ast.walk(function):
        if program.function(node) is not function:
            continue
        if isinstance(node, ast.Return):
            found.append(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield) and node.value.value is not None:
            found.append(ast.copy_location(ast.Return(node.value.value), node))
    return sorted(found, key=lambda n: n.lineno)


def part_of(node: ast.expr, part: int | str | None) -> ast.expr | None:
    """Take one place of a tuple or one key of a dict; the whole for anything else, None where the part is
    not in it."""
    if isinstance(node, (ast.Tuple, ast.List)):
        if part is None:
            return node.elts[0] if len(node.elts) == 1 else None
        return node.elts[part] if isinstance(part, int) and part < len(node.elts) else None
    if isinstance(node, ast.Dict):
        return next(
            (v for k, v in zip(node.keys, node.values, strict=True) if isinstance(k, ast.Constant) and k.value == part),
            None,
        )
    return node


def final_name(function: ast.expr) -> str:
    """The last word of what is called: `stack` of `torch.stack`."""
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def loop_of(program: Program, scope: Function | None, name: str, line: int) -> ast.For | None:
    """The innermost loop around a line that gives a name its value."""
    around = [
        node
        for node in program.every(ast.For)
        if node.lineno <= line <= (node.end_lineno or 0)
        and program.function(node) is scope
        and any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node.target))
    ]
    return around[-1] if around else None


def place_in(loop: ast.For, name: str) -> tuple[bool, int | None]:
    """Whether a loop gives a name its items, and which part of each; `enumerate` is taken off."""
    target = loop.target
    counted = isinstance(loop.iter, ast.Call) and final_name(loop.iter.func) == "enumerate"
    if counted and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        target = target.elts[1]
    if isinstance(target, ast.Tuple):
        part = next((i for i, one in enumerate(target.elts) if ast.unparse(one) == name), None)
        return part is not None, part
    return ast.unparse(target) == name, None


def paired(items: ast.expr, part: int | None) -> tuple[ast.expr, int | None]:
    """What a loop goes through for one of its names: of `zip(a, b)` the argument in its place."""
    if isinstance(items, ast.Call) and final_name(items.func) == "enumerate" and items.args:
        items = items.args[0]
    if part is None or not isinstance(items, ast.Call) or final_name(items.func) != "zip":
        return items, part
    plain = not any(isinstance(one, ast.Starred) for one in items.args)
    return (items.args[part], None) if plain and part < len(items.args) else (items, part)


def parameters(function: Function) -> list[str]:
    """The names of its parameters in order."""
    return [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]


def outer(program: Program, scope: Function) -> Function | None:
    """The function around a function; None at module level."""
    around = program.function(scope)
    return around if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)) else None


def loops(node: ast.AST, line: int) -> bool:
    """True for a loop around a line."""
    return isinstance(node, (ast.For, ast.While)) and node.lineno <= line <= (node.end_lineno or 0)


def names_in(node: ast.AST) -> set[str]:
    """The plain names in a piece of source."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
