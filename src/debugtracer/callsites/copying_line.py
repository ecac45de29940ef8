"""The line of a program that copies weights into a model now and then, and whether the counter it asks ever lets it.
Read from the source, nothing is run."""

from __future__ import annotations

import ast
import math
from collections import ChainMap
from collections.abc import Mapping
from typing import Any, NamedTuple

from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.source.program import Program, shown
from debugtracer.trace.birth import Frame

MAIN = "__name__"
WEIGHTS = frozenset({"parameters", "named_parameters", "state_dict", "buffers"})


class CopyingLine(NamedTuple):
    """Where it stands; where the condition over it can be shown never to hold, that, and where it stands."""

    frame: Frame
    never: str = ""


def copying_line(frame: Frame, values: Mapping[str, Any]) -> CopyingLine | None:
    """The last line in this file that writes the weights of another model into the one that `frame` calls, and is not
    part of building it: it stands in a loop, a branch or a function of its own. `values` are the variables that the
    loop has now."""
    program = program_of(frame.file)
    if program is None:
        return None
    called = [n for n in program.every(ast.Call) if is_on(n, frame.line)]
    names = {name for call in called if (name := final_name(call.func))}
    found = [node for node in program.nodes if copies_into(node, names) and not builds(program, node)]
    if not found:
        return None
    node = found[-1]
    condition, never = never_holds(program, node, in_scope(program, node, frame, values))
    at = condition if condition is not None else program.statement(node)
    line, name = at.lineno if at is not None else frame.line, getattr(program.function(node), "name", "<module>")
    return CopyingLine(Frame(frame.file, line, name, program.text.splitlines()[line - 1].strip()), never)


def in_scope(program: Program, node: ast.AST, frame: Frame, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values that names have at a line: those of the function that runs, else those of the file that the line's own
    function does not bind itself."""
    function = program.function(node)
    if function is None or getattr(function, "name", "") == frame.function:
        return values if function is not None else of_file(values) if frame.function != "<module>" else values
    bound = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    bound |= {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)}
    return {name: value for name, value in of_file(values).items() if name not in bound}


def of_file(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The last of several scopes: the variables of the file."""
    return values.maps[-1] if isinstance(values, ChainMap) else values


def is_on(node: ast.expr, line: int) -> bool:
    """Whether a line is part of an expression."""
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def copies_into(node: ast.AST, names: set[str]) -> bool:
    """True for `target.load_state_dict(model.state_dict())`, and for a loop over the parameters of both."""
    if isinstance(node, ast.Call) and final_name(node.func) == "load_state_dict" and node.args:
        given, owner = node.args[0], getattr(node.func, "value", None)
        copied = isinstance(given, ast.Call) and final_name(given.func) == "state_dict"
        source = getattr(given.func, "value", None) if isinstance(given, ast.Call) else None
        if not copied or owner is None or (source is not None and ast.unparse(source) == ast.unparse(owner)):
            return False
        return final_name(owner) in names
    if not isinstance(node, ast.For):
        return False
    read = [n for n in ast.walk(node.iter) if isinstance(n, ast.Call) and final_name(n.func) in WEIGHTS]
    owners = {final_name(n.func.value) for n in read if isinstance(n.func, ast.Attribute)}
    return len(owners) > 1 and bool(owners & names)


def builds(program: Program, node: ast.AST) -> bool:
    """Whether a line belongs to what is done once: at the top of the file or of the function that makes things."""
    within = [a for a in program.above(node) if isinstance(a, (ast.For, ast.While, ast.If))]
    if any(not (isinstance(a, ast.If) and MAIN in ast.unparse(a.test)) for a in within):
        return False
    name = getattr(program.function(node), "name", "")
    called = [n for n in program.every(ast.Call) if final_name(n.func) == name] if name else []
    return not any(isinstance(a, (ast.For, ast.While)) for call in called for a in program.above(call))


def never_holds(program: Program, node: ast.AST, values: Mapping[str, Any]) -> tuple[ast.If | None, str]:
    """The condition over it, where it asks whether the counter of a `for ... in range(...)` is a multiple of a number
    and none of its values can be; (None, "") otherwise."""
    inside: ast.AST = node
    for above in program.above(node):
        below, inside = inside, above
        if not isinstance(above, ast.If) or not isinstance(above.test, ast.Compare) or below not in above.body:
            continue
        test = above.test
        left, ops, right = test.left, test.ops, test.comparators
        if len(ops) != 1 or not isinstance(ops[0], ast.Eq) or not isinstance(left, ast.BinOp):
            continue
        if not isinstance(left.op, ast.Mod):
            continue
        every, rest = whole(left.right, values), whole(right[0], values)
        counter = offset(left.left, values)
        loop = counted(program, above, counter[0]) if counter is not None else None
        if every is None or rest is None or counter is None or loop is None or every == 0:
            continue
        start = whole(loop.args[0], values) if len(loop.args) > 1 else 0
        step = whole(loop.args[2], values) if len(loop.args) > 2 else 1
        if start is not None and step and (rest - counter[1] - start) % math.gcd(step, every):
            return above, f"`{shown(test)}` never holds for a counter that goes up by {step} from {start}"
    return None, ""


def counted(program: Program, node: ast.AST, name: str) -> ast.Call | None:
    """The `range(...)` that a loop around it counts a name through."""
    for above in program.above(node):
        if isinstance(above, ast.For) and isinstance(above.target, ast.Name) and above.target.id == name:
            call = above.iter
            return call if isinstance(call, ast.Call) and final_name(call.func) == "range" else None
    return None


def offset(node: ast.expr, values: Mapping[str, Any]) -> tuple[str, int] | None:
    """A name, or a name and a whole number: (name, number)."""
    if isinstance(node, ast.Name):
        return node.id, 0
    if isinstance(node, ast.BinOp) and isinstance(node.left, ast.Name) and isinstance(node.op, (ast.Add, ast.Sub)):
        number = whole(node.right, values)
        return None if number is None else (node.left.id, -number if isinstance(node.op, ast.Sub) else number)
    return None


def whole(node: ast.expr, values: Mapping[str, Any]) -> int | None:
    """A whole number that is written out, or that a plain name or a plain field of an object has now."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    found = value_of(node, values)
    return found if type(found) is int else None


def value_of(node: ast.expr, values: Mapping[str, Any]) -> Any:
    """What a name, or a field of its object, holds; no code of the object's is run."""
    if isinstance(node, ast.Name):
        return values.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = value_of(node.value, values)
        try:
            return object.__getattribute__(owner, "__dict__").get(node.attr)
        except AttributeError:
            return None
    return None
