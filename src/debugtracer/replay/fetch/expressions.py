"""Parts of a statement computed once more with the names as they were before it. For a process that is thrown away
afterwards."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from debugtracer.replay.fetch.values import MOST

MISSING = object()


class Names:
    """The names that an expression is computed with; `self.x` stands for a copied attribute."""

    def __init__(self, scope: dict[str, Any], held: dict[str, Any]) -> None:
        self.scope, self.held = scope, held

    def also(self, **more: Any) -> Names:
        """The same with further names."""
        return Names(self.scope, self.held | more)

    def value(self, node: ast.expr) -> Any:
        """What an expression gives; MISSING where it raises."""
        kept: dict[str, Any] = {name: v for name, v in self.held.items() if "." not in name}
        renamed = Renamed(self.held, kept)
        try:
            body = renamed.visit(ast.parse(ast.unparse(node), mode="eval"))
            return eval(compile(ast.fix_missing_locations(body), "<again>", "eval"), self.scope, kept)
        except Exception:
            return MISSING


class Renamed(ast.NodeTransformer):
    """Reads copied attributes in place of the living ones."""

    def __init__(self, held: dict[str, Any], kept: dict[str, Any]) -> None:
        self.held, self.kept = held, kept

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Replace `self.x` by the copy of it."""
        text = ast.unparse(node)
        if text not in self.held or not isinstance(node.ctx, ast.Load):
            self.generic_visit(node)
            return node
        name = f"copied_{text.replace('.', '_')}"
        self.kept[name] = self.held[text]
        return ast.copy_location(ast.Name(name, ast.Load()), node)


def written_value(node: ast.AST, name: str = "") -> ast.expr | None:
    """The expression whose value a statement writes, returns or yields; of a tuple the part that goes to the name."""
    if isinstance(node, ast.AugAssign):
        read = ast.parse(ast.unparse(node.target), mode="eval").body
        return ast.copy_location(ast.BinOp(read, node.op, node.value), node)
    if isinstance(node, ast.Assign):
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            return next((v for t, v in zip(target.elts, value.elts, strict=True) if ast.unparse(t) == name), value)
        return value
    if isinstance(node, (ast.AnnAssign, ast.Return)):
        return node.value
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return node.iter
    if isinstance(node, ast.Expr):
        return node.value.value if isinstance(node.value, (ast.Yield, ast.YieldFrom)) else node.value
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return node.items[0].context_expr
    return node if isinstance(node, ast.expr) else None


def operands(node: ast.expr) -> list[ast.expr]:
    """The expressions that one is computed of."""
    if isinstance(node, ast.Call):
        held = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        given = [a.value if isinstance(a, ast.Starred) else a for a in node.args]
        return [*held, *given, *(k.value for k in node.keywords)]
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [e.value if isinstance(e, ast.Starred) else e for e in node.elts]
    if isinstance(node, ast.Dict):
        return list(node.values)
    if isinstance(node, (ast.Subscript, ast.Attribute, ast.NamedExpr, ast.Await, ast.Starred)):
        return [node.value]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.BoolOp):
        return list(node.values)
    return []


def turns_of(node: ast.expr, names: Names) -> Iterator[tuple[ast.expr, Names]]:
    """Yield the element of a comprehension with the names of each turn; nothing where there is more than one loop."""
    if not isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)) or len(node.generators) != 1:
        return
    loop = node.generators[0]
    every = names.value(loop.iter)
    element = node.value if isinstance(node, ast.DictComp) else node.elt
    try:
        items = list(every)[:MOST]
    except TypeError:
        return
    for item in items:
        inner = names.also(**bound(loop.target, item))
        if all(inner.value(test) for test in loop.ifs):
            yield element, inner


def bound(target: ast.expr, item: Any) -> dict[str, Any]:
    """The names that one turn of a loop sets."""
    if isinstance(target, ast.Name):
        return {target.id: item}
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(item, (tuple, list)):
        return {k: v for t, i in zip(target.elts, item, strict=False) for k, v in bound(t, i).items()}
    return {}
