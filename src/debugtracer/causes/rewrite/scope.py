"""Reads the source around a line: the name of the optimizer, the loop that trains."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from debugtracer.causes.rewrite.keywords import OPTIMIZERS


def optimizer_at(source: str, line: int) -> str:
    """The only name whose step() is called in the function around this line and whose gradients are its own; "" if
    there is none or more than one."""
    tree = tree_of(source)
    names = set(steppers(around(tree, line), makers(tree))) if tree is not None else set()
    return names.pop() if len(names) == 1 else ""


def makers(tree: ast.AST) -> dict[str, str]:
    """What each name was made by: `optimizer` by `Adam`; the last word of what was called."""
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)]
    return {
        ast.unparse(n.targets[0]): ast.unparse(n.value.func).split(".")[-1]
        for n in calls
        if isinstance(n.value, ast.Call)
    }


def steppers(tree: ast.AST, made: dict[str, str]) -> Iterator[str]:
    """Yield optimizers by name: `X` of `X.step()` and of `scaler.step(X)`; schedulers are left out by what made
    them."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step"):
            continue
        scaled = bool(node.args)
        name = ast.unparse(node.args[0] if scaled else node.func.value)
        by = made.get(name, "")
        if by in OPTIMIZERS or (
            not by
            and name.replace(".", "").isidentifier()
            and (not scaled or made.get(ast.unparse(node.func.value)) == "GradScaler")
        ):
            yield name


def training_loop(source: str, line: int) -> int | None:
    """The line before which the model is put into training mode: the head of the innermost loop around the backward, in
    the function around `line`.

    Where `line` lies inside that loop it is the loop's first statement. None when there is no such loop, or several.
    """
    tree = tree_of(source)
    loops = list(innermost(around(tree, line))) if tree is not None else []
    if len(loops) != 1:
        return None
    inside = loops[0].lineno < line <= (loops[0].end_lineno or loops[0].lineno)
    return loops[0].body[0].lineno if inside else loops[0].lineno


def last_return(source: str, line: int) -> int | None:
    """The line of the return that ends the function around `line`, if it only hands over what was computed before; None
    otherwise."""
    tree = tree_of(source)
    inside = around(tree, line) if tree is not None else None
    last = inside.body[-1] if isinstance(inside, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
    calls = [node for node in ast.walk(last) if isinstance(node, ast.Call)] if last is not None else []
    return last.lineno if isinstance(last, ast.Return) and not calls and last.lineno == last.end_lineno else None


def innermost(tree: ast.AST) -> Iterator[ast.For | ast.While]:
    """The loops with a backward in them and no smaller loop around it."""
    for loop in (node for node in ast.walk(tree) if isinstance(node, (ast.For, ast.While))):
        smaller = [n for n in ast.walk(loop) if n is not loop and isinstance(n, (ast.For, ast.While)) and trains(n)]
        if trains(loop) and not smaller:
            yield loop


def trains(loop: ast.AST) -> bool:
    """True if a backward is called in the loop."""
    return any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "backward"
        for n in ast.walk(loop)
    )


def around(tree: ast.AST, line: int) -> ast.AST:
    """The innermost function around a line, the whole file outside of any."""
    inside = [
        n
        for n in ast.walk(tree)
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and n.lineno <= line <= (n.end_lineno or n.lineno)
    ]
    return max(inside, key=lambda n: n.lineno, default=tree)


def tree_of(source: str) -> ast.AST | None:
    """The syntax tree of a file; None where it is no Python."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return None
