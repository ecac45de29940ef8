"""The line of the program that made a node of a graph: that of the function in flight whose value comes from it, or the
one line of the functions called there that can have."""

from __future__ import annotations

import ast
import inspect
from collections import deque
from collections.abc import Iterator
from types import FrameType
from typing import Any

from torch import Tensor, nn
from torch.autograd.graph import Node

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import as_frame
from debugtracer.callsites.origins.called_function import called_function
from debugtracer.callsites.origins.value_origin import Use, program_of
from debugtracer.callsites.origins.written_names import Function, final_name
from debugtracer.replay.lines_again import first_line
from debugtracer.replay.pure_expression import Impure, attribute
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

MOST = 20_000  # nodes of a graph that are looked at (ours)
DEEP = 3  # calls inside calls that are followed (ours)
OPERATORS = {
    ast.Add: ("Add",), ast.Sub: ("Sub", "Rsub"), ast.Mult: ("Mul",), ast.Div: ("Div", "Mul"), ast.Pow: ("Pow",),
    ast.MatMult: ("Mm", "Bmm", "Mv", "Dot", "UnsafeView", "Squeeze"),
}  # fmt: skip
"""Nodes that an operator of Python makes."""
NAMED = {"sub": "Sub", "pow": "Pow", "square": "Pow", "tanh": "Tanh", "exp": "Exp", "sigmoid": "Sigmoid", "sum": "Sum",
         "mean": "Mean", "softmax": "Softmax", "mul": "Mul", "div": "Div", "add": "Add", "sqrt": "Sqrt", "log": "Log",
         "relu": "Relu", "abs": "Abs", "clamp": "Clamp", "gather": "Gather"}  # fmt: skip
"""Nodes that a call makes, for those whose argument is looked at."""
Site = tuple[Program, Function | None, ast.expr]


def line_of(node: Node, frame: FrameType) -> tuple[Frame, ...]:
    """The lines, innermost first; empty where no value of the function in flight comes from the node."""
    program = program_of(frame.f_code.co_filename)
    made = made_in(node, frame, program) if program is not None else None
    if program is None or made is None:
        return ()
    statement, end = made
    here = as_frame(frame.f_code, statement.lineno)
    inside = [site for site in sites(program, scope_of(program, statement), statement, frame) if may_be(site, node)]
    kind = kind_of(node)
    like = [one for one in behind(end) if kind_of(one) == kind]
    if len(inside) != 1 or sum(may_be(inside[0], one) for one in like) != 1:
        return (here,)  # a call inside a library may be meant
    found, scope, call = inside[0]
    place = Use(found, scope, call).frame(call)
    return (place,) if (place.file, place.line) == (here.file, here.line) else (place, here)


def made_in(node: Node, frame: FrameType, program: Program) -> tuple[ast.stmt, Node] | None:
    """The first assignment of the function in flight one of whose names holds a value that comes from a node, with the
    end of the graph of that value."""
    values = locals_of(frame)
    module = frame.f_code.co_name == "<module>"
    last: dict[str, ast.stmt] = {}
    for one in program.nodes:
        if not isinstance(one, (ast.Assign, ast.AnnAssign, ast.AugAssign)) or one.lineno >= frame.f_lineno:
            continue
        held = program.function(one)
        if (held is None) if module else (held is not None and first_line(held) == frame.f_code.co_firstlineno):
            last |= {n.id: one for n in ast.walk(one) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for name, statement in sorted(last.items(), key=lambda item: item[1].lineno):
        value = values.get(name)
        if isinstance(value, Tensor) and value.grad_fn is not None and node in behind(value.grad_fn):
            return statement, value.grad_fn
    return None


def behind(end: Node) -> set[Node]:
    """The nodes of a graph."""
    seen, queue = {end}, deque([end])
    while queue and len(seen) < MOST:
        for parent, _ in queue.popleft().next_functions:
            if parent is not None and parent not in seen:
                seen.add(parent)
                queue.append(parent)
    return seen


def kind_of(node: Node) -> str:
    """The op that a node belongs to: `Log` for `LogBackward0`."""
    return node.name().rstrip("0123456789").removesuffix("Backward")


def sites(program: Program, scope: Function | None, statement: ast.AST, frame: FrameType | None) -> Iterator[Site]:
    """Every call and operator that a statement runs, in functions of the program that it calls too; `frame` is the
    function in flight, whose values say which functions those are."""
    queue: deque[tuple[Program, Function | None, ast.AST, int]] = deque([(program, scope, statement, 0)])
    seen: set[int] = set()
    while queue:
        held, owner, tree, depth = queue.popleft()
        for one in ast.walk(tree):
            if isinstance(one, ast.BinOp):
                yield held, owner, one
            if not isinstance(one, ast.Call):
                continue
            yield held, owner, one
            called = run_now(one.func, frame) if frame is not None and not depth else None
            called = called or called_function(held, owner, one, program_of)
            if called is not None and id(called[1]) not in seen and depth < DEEP:
                seen.add(id(called[1]))
                queue.append((*called, called[1], depth + 1))


def run_now(target: ast.expr, frame: FrameType) -> tuple[Program, Function] | None:
    """The function of the program that a callee of the function in flight is, by the values it holds."""
    try:
        found = value_of(target, frame, locals_of(frame))
    except Impure:
        return None
    found = type(found).forward if isinstance(found, nn.Module) else found
    code = getattr(getattr(inspect.unwrap(found) if callable(found) else found, "__func__", found), "__code__", None)
    program = program_of(code.co_filename) if code is not None else None
    if program is None or code is None:
        return None
    return next(
        (
            (program, one)
            for one in program.nodes
            if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) and first_line(one) == code.co_firstlineno
        ),
        None,
    )


def value_of(target: ast.expr, frame: FrameType, values: dict[str, Any]) -> Any:
    """What a name or a dotted name is. Raises Impure where reading it may run code."""
    if isinstance(target, ast.Name) and (target.id in values or target.id in frame.f_globals):
        return values.get(target.id, frame.f_globals.get(target.id))
    if not isinstance(target, ast.Attribute):
        raise Impure
    owner = value_of(target.value, frame, values)
    parts = owner._modules if isinstance(owner, nn.Module) and "_modules" in vars(owner) else {}
    if target.attr in parts:
        return parts[target.attr]
    found = inspect.getattr_static(type(owner), target.attr, None)
    return found if inspect.isfunction(found) else attribute(owner, target.attr)


def may_be(site: Site, node: Node) -> bool:
    """Whether a call or operator of the source can have made a node: by its own kind and by those before it."""
    program, scope, one = site
    if not fits(one, node):
        return False
    argument = argument_of(one)
    before = node.next_functions[0][0] if node.next_functions else None
    if isinstance(argument, ast.Name):
        argument = written_alone(program, scope, argument.id)
    return before is None or argument is None or fits(argument, before) is not False


def fits(one: ast.expr, node: Node) -> bool | None:
    """Whether an expression makes such a node; None where it cannot be told."""
    kind = kind_of(node)
    if isinstance(one, ast.BinOp):
        return kind in OPERATORS.get(type(one.op), ())
    if isinstance(one, ast.Call):
        name = final_name(one.func).rstrip("_")
        return True if name.lower() == kind.lower() else False if name in NAMED else None
    return None


def argument_of(one: ast.expr) -> ast.expr | None:
    """The first tensor that a call or operator reads: `x` of `torch.log(x)` and of `x.log()`."""
    if isinstance(one, ast.BinOp):
        return one.left
    if not isinstance(one, ast.Call) or not isinstance(one.func, ast.Attribute):
        return one.args[0] if isinstance(one, ast.Call) and one.args else None
    return one.args[0] if one.args else one.func.value


def written_alone(program: Program, scope: Function | None, name: str) -> ast.expr | None:
    """The value of the one assignment to a name in a function; None where there are others."""
    found = [
        one
        for one in program.nodes
        if program.function(one) is scope
        and isinstance(one, (ast.Assign, ast.AugAssign))
        and any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(one))
    ]
    only = found[0] if len(found) == 1 else None
    return only.value if isinstance(only, ast.Assign) and isinstance(only.targets[0], ast.Name) else None


def scope_of(program: Program, statement: ast.AST) -> Function | None:
    """The function that a statement stands in."""
    held = program.function(statement)
    return held if isinstance(held, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
