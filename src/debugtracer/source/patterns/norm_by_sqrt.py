"""A norm written as sqrt(sum(x * x))."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.pattern import Hit, Pattern
from debugtracer.source.source import Source
from debugtracer.source.value import SQUARES


@dataclass(frozen=True)
class NormBySqrt(Pattern):
    """sqrt(sum(x*x)) has the gradient 0 * inf = nan for a row of zeros or two equal rows; torch.linalg.vector_norm has
    the gradient 0 there."""

    def find(self, source: Source) -> Iterator[Hit]:
        """Yield roots of sums of squares where a gradient is made."""
        for node, operand in roots(source):
            value = source.value(operand)
            if value.form not in SQUARES or value.at_most(0.0) is None or value.detached or value.tensor is False:
                continue
            if source.of_weight(operand) or source.no_grad(node) or source.guarded(node, operand):
                continue
            seen = (
                f"the root of a sum of squares, {source.shown(operand)}: its gradient is nan where the sum is 0 (a row "
                "of zeros, two equal rows)"
            )
            remedy = "use torch.linalg.vector_norm, or add an epsilon inside the root"
            yield self.hit(source, node, seen, "a gradient for every row", remedy, note=value.form == "squares")


def roots(source: Source) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield each root with its operand: sqrt(x), x ** 0.5, x.pow(0.5)."""
    for call in source.calls("sqrt"):
        yield call.node, call.operand
    for call in source.calls("pow"):
        exponent = call.given.value(0, "exponent")
        if exponent is not None and exponent.constant == 0.5:
            yield call.node, call.operand
    for node in source.program.nodes:
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Pow)
            and source.value(node.right).constant == 0.5
            and source.value(node.left).tensor
        ):
            yield node, node.left
