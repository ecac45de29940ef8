"""A running sum that keeps the graph of every step."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.names import dotted, method
from debugtracer.source.pattern import Hit, Pattern
from debugtracer.source.source import Source


@dataclass(frozen=True)
class LiveLossSum(Pattern):
    """`total += loss` with a loss that has a graph ties every step of the epoch together, so memory grows; .item() or
    .detach() takes the number alone."""

    def find(self, source: Source) -> Iterator[Hit]:
        """Yield additions of a loss, backwarded in the loop, to something that outlives the loop."""
        for loop in (n for n in source.program.nodes if isinstance(n, (ast.For, ast.While))):
            live = {name for name in backwarded(loop) if not made_number(source, loop, name)}
            if not live or source.no_grad(loop):
                continue
            around = backwarded(source.program.function(loop) or source.program.tree)
            for node in body(loop):
                collector, loss = added(node) or ("", "")
                if loss in live and collector not in around and collector not in stored(loop):
                    seen = f"{collector} keeps {loss} of every step with its graph: memory grows with every step"
                    yield self.hit(source, node, seen, "a number", f"use {loss}.item() or {loss}.detach()")


def added(node: ast.AST) -> tuple[str, str] | None:
    """The collector and the loss of `total += loss`, `total = total + loss`, `losses.append(loss)`."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        return pair(node.target, node.value)
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Add):
        again = dotted(node.value.left) is not None and dotted(node.value.left) == dotted(node.targets[0])
        return pair(node.targets[0], node.value.right) if again else None
    if (
        isinstance(node, ast.Call)
        and method(node) == "append"
        and len(node.args) == 1
        and isinstance(node.func, ast.Attribute)
    ):
        return pair(node.func.value, node.args[0])
    return None


def pair(collector: ast.AST, loss: ast.AST) -> tuple[str, str] | None:
    """Return both as text; the loss may be scaled, which keeps its graph."""
    while isinstance(loss, ast.BinOp) and isinstance(loss.op, (ast.Mult, ast.Div)):
        loss = loss.left
    one, other = dotted(collector), dotted(loss)
    return None if one is None or other is None else (one, other)


def body(loop: ast.For | ast.While) -> Iterator[ast.AST]:
    """The nodes of one turn of the loop, functions defined in it left out."""
    todo: list[ast.AST] = list(loop.body)
    while todo:
        node = todo.pop(0)
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            todo = [*ast.iter_child_nodes(node), *todo]


def backwarded(holder: ast.AST) -> set[str]:
    """The names whose backward is called: `loss.backward()`, `scaler.scale(loss).backward()`,
    `accelerator.backward(loss)`."""
    found: set[str] = set()
    for node in ast.walk(holder):
        if (
            isinstance(node, ast.Call)
            and method(node) in ("backward", "manual_backward")
            and isinstance(node.func, ast.Attribute)
        ):
            roots = [*node.args[:1], node.func.value]
            inner = node.func.value
            while isinstance(inner, (ast.Call, ast.BinOp)):
                roots += inner.args[:1] if isinstance(inner, ast.Call) else [inner.left]
                inner = (
                    inner.args[0]
                    if isinstance(inner, ast.Call) and inner.args
                    else inner.left
                    if isinstance(inner, ast.BinOp)
                    else ast.Constant(None)
                )
            found |= {name for root in roots if (name := dotted(root)) is not None}
    return found


def stored(loop: ast.For | ast.While) -> set[str]:
    """The names that each iteration of the loop starts anew."""
    return {
        name
        for node in body(loop)
        if isinstance(node, ast.Assign)
        for t in node.targets
        if (name := dotted(t)) is not None and not mentions(node.value, name)
    }


def mentions(value: ast.AST, name: str) -> bool:
    """True if the new value is made of the old one."""
    return any(dotted(node) == name for node in ast.walk(value))


def made_number(source: Source, loop: ast.AST, name: str) -> bool:
    """True if the loop turns the name itself into a number."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign) and any(dotted(t) == name for t in node.targets):
            value = source.value(node.value)
            if value.tensor is False or (value.detached and value.tensor):
                return True
    return False
