"""A power with a fractional or negative exponent of something that reaches zero or goes below it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.source.pattern import Hit, Pattern
from debugtracer.source.source import Source
from debugtracer.source.value import SQUARES


@dataclass(frozen=True)
class PowUnguarded(Pattern):
    """x ** 0.5 of a negative number is nan; its gradient at 0 is inf for an exponent below 1; a negative exponent makes
    inf of 0."""

    def find(self, source: Source) -> Iterator[Hit]:
        """Yield powers with a constant exponent that is fractional or negative."""
        for node, base, exponent in powers(source):
            value = source.value(base)
            point = value.at_most(0.0) if exponent != int(exponent) else value.exactly(0.0)
            if point is None or (value.form in SQUARES and exponent == 0.5) or value.tensor is False:
                continue
            only_gradient = point.at == 0 and exponent > 0
            if only_gradient and (exponent > 1 or source.no_grad(node) or value.detached or point.blocked):
                continue
            if source.guarded(node, base):
                continue
            what = "its derivative at 0 is infinite" if only_gradient else "the result is not finite there"
            seen = f"{source.shown(base)} to the power {exponent:g} without a guard: {point.why}, and {what}"
            yield self.hit(
                source,
                node,
                seen,
                "a base above 0",
                "clamp_min(1e-8) the base, or add an epsilon to it",
                note=point.weak,
            )


def powers(source: Source) -> Iterator[tuple[ast.expr, ast.expr, float]]:
    """Yield base and exponent, where the exponent is a constant that is no natural number."""
    found = [(c.node, c.operand, c.given.value(0, "exponent")) for c in source.calls("pow", "float_power")]
    written = [
        n
        for n in source.program.nodes
        if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow) and source.value(n.left).tensor
    ]
    for node, base, exponent in [*found, *((n, n.left, source.value(n.right)) for n in written)]:
        constant = None if exponent is None else exponent.constant
        if constant is not None and abs(constant) < 100 and (constant < 0 or constant != int(constant)):
            yield node, base, constant
