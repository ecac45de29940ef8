"""A weighted mean whose weights can sum to zero: an empty mask is 0/0."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.names import method
from debugtracer.source.pattern import Hit, Pattern
from debugtracer.source.source import Source

SHAPES = frozenset({
    "unsqueeze", "view", "reshape", "expand", "expand_as", "squeeze", "flatten", "contiguous", "permute", "transpose",
    "float", "double", "half", "long", "int", "to", "type", "type_as",
})  # fmt: skip
POSITIVE = frozenset({"softmax", "sigmoid", "exp", "softplus"})  # weights whose sum is 0 only in theory


@dataclass(frozen=True)
class WeightsSumToZero(Pattern):
    """(x * mask).sum() / mask.sum() is 0/0 = nan for the row or batch in which the mask selects nothing."""

    def find(self, source: Source) -> Iterator[Hit]:
        """A sum divided by the sum of its own weights, when nothing keeps that from 0; a known 0 is for
        division-unguarded."""
        for node, above, below in source.divisions():
            weights = summed(source, below)
            total = None if above is None else summed(source, above)
            if weights is None or total is None or not multiplied_by(source, total, weights):
                continue
            value = source.value(weights)
            if (
                source.value(below).exactly(0.0) is not None
                or value.low > 0
                or source.made_with(weights, POSITIVE)
                or source.guarded(node, below)
            ):
                continue
            seen = f"a weighted mean, {source.shown(node)}: 0/0 where {source.shown(weights)} is 0 everywhere"
            remedy = "clamp_min the sum of the weights (1 for a mask, 1e-8 else)"
            yield self.hit(source, node, seen, "weights with a sum above 0", remedy, note=source.no_grad(node))


def summed(source: Source, node: ast.AST) -> ast.expr | None:
    """What a sum adds up, None if this is no sum."""
    node = bare(source.values.meant(bare(source.values.meant(node))))
    if not isinstance(node, ast.Call):
        return None
    if source.names.torch_function(node.func) == "sum" and node.args:
        return node.args[0]
    return (
        node.func.value
        if method(node) == "sum" and isinstance(node.func, ast.Attribute) and source.names.meaning(node.func) is None
        else None
    )


def multiplied_by(source: Source, total: ast.AST, weights: ast.AST) -> bool:
    """True if what is summed is a product with the same weights, whatever their shape was made."""
    total = source.values.meant(total)
    if not isinstance(total, ast.BinOp) or not isinstance(total.op, ast.Mult):
        return False
    wanted = ast.dump(bare(weights))
    return any(
        ast.dump(bare(side)) == wanted or multiplied_by(source, side, weights) for side in (total.left, total.right)
    )


def bare(node: ast.AST) -> ast.AST:
    """Strip changes of shape and dtype: `mask.float()[:, None]` is `mask`."""
    while True:
        if isinstance(node, ast.Call) and method(node) in SHAPES and isinstance(node.func, ast.Attribute):
            node = node.func.value
        elif isinstance(node, ast.Subscript):
            node = node.value
        else:
            return node
