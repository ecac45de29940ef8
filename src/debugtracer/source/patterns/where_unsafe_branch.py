"""torch.where around a function that is not defined on the branch not taken."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.names import method
from debugtracer.source.pattern import Hit, Pattern
from debugtracer.source.source import Source
from debugtracer.trace.op import LOG_EDGES

EDGES = {**LOG_EDGES, "sqrt": 0.0, "rsqrt": 0.0, "reciprocal": 0.0}
SPANS = frozenset({"acos", "asin", "arccos", "arcsin"})
CLAMPS = frozenset({"clamp", "clamp_min", "clip", "clamp_max", "maximum", "minimum"})
SAFE = frozenset({"where", "masked_fill", "nan_to_num", "exp", "softplus", "detach"})
ABOVE = frozenset({"abs", "square"})  # keep from what is below 0; 0 itself stays 0


@dataclass(frozen=True)
class WhereUnsafeBranch(Pattern):
    """torch.where computes both branches; the gradient of the one not taken is 0 * inf = nan. Only the argument, made
    safe before the function, helps."""

    def find(self, source: Source) -> Iterator[Hit]:
        """Yield branches with log, sqrt, division or acos of what the condition tests, where a gradient is made."""
        for node in source.program.nodes:
            if not isinstance(node, ast.Call) or not source.is_where(node) or source.no_grad(node):
                continue
            condition = node.args[0]
            terms = source.terms(condition)
            for name, operand in left_out(source, node):
                if not source.terms(operand, 0) & terms:
                    continue
                seen = (
                    f"where({source.shown(condition)}, ...) around {name} of {source.shown(operand)}: the branch not "
                    "taken has the gradient 0 * inf = nan"
                )
                remedy = "make the argument safe first: f(torch.where(condition, x, 1))"
                yield self.hit(source, node, seen, "an argument inside the domain on both branches", remedy)
                break


def left_out(source: Source, node: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """Yield functions of each branch with an edge where the condition, a comparison with a constant, does not take
    it."""
    condition, taken, other = node.args
    test = source.values.meant(condition)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return
    right, left = source.value(test.comparators[0]).constant, source.value(test.left).constant
    limit = right if right is not None else left
    if limit is None:
        return
    operator = test.ops[0]
    above = isinstance(operator, (ast.Gt, ast.GtE)) if right is not None else isinstance(operator, (ast.Lt, ast.LtE))
    for branch, when in ((taken, True), (other, False)):
        for name, operand in unsafe(source, branch):
            if isinstance(operator, (ast.Eq, ast.NotEq)):
                beyond = isinstance(operator, ast.NotEq) is when and limit == EDGES.get(name, 0.0)
            else:
                beyond = reaches_edge(name, limit, kept_above=above is when)
            if beyond:
                yield name, operand


def reaches_edge(name: str, limit: float, *, kept_above: bool) -> bool:
    """True if the side of the limit that is left out has numbers on which the function, or its derivative, is not
    finite."""
    if name in SPANS:
        return True
    edge = EDGES.get(name, 0.0)
    return (name in EDGES or edge <= limit) if kept_above else limit <= edge


def unsafe(source: Source, branch: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield functions of a branch with an edge that their argument is not kept from."""
    for part in ast.walk(branch):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div):
            value = source.value(part.right)
            if (
                value.constant is None
                and value.low <= 0
                and value.tensor
                and not is_safe(source, part.right, frozenset())
            ):
                yield "a division by", part.right
        elif isinstance(part, ast.Call):
            name = source.names.torch_function(part.func)
            operand = (
                part.args[0]
                if name and part.args
                else part.func.value
                if isinstance(part.func, ast.Attribute) and not part.args
                else None
            )
            name = name or method(part)
            if operand is None or name is None or is_safe(source, operand, ABOVE):
                continue
            value = source.value(operand)
            if not value.detached and (
                (name in EDGES and value.low <= EDGES[name]) or (name in SPANS and (value.low <= -1 or value.high >= 1))
            ):
                yield name, operand


def is_safe(source: Source, operand: ast.AST, also: frozenset[str]) -> bool:
    """True if the argument is itself selected, filled, shifted by a constant, clamped away from the edge, or the result
    of one of `also`."""
    node = source.values.meant(operand)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return any((source.value(side).constant or 0) > 0 for side in (node.left, node.right))
    if not isinstance(node, ast.Call):
        return False
    name = (source.names.torch_function(node.func) or method(node) or "").removesuffix("_")
    return name in SAFE | also or (name in CLAMPS and source.value(node).at_most(0.0) is None)
