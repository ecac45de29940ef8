"""Whether a statement was reached: the conditions around it, asked of the values that its function holds now. No code
of the program runs."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

from debugtracer.observers.program.cut_windows import number_of, value_of
from debugtracer.source.program import Program

COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip


def ran(program: Program, statement: ast.stmt, values: Mapping[str, Any]) -> bool | None:
    """Whether all conditions around a statement of a function hold; None where one cannot be told."""
    inner: ast.AST = statement
    told: list[bool | None] = []
    for above in program.above(statement):
        if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)):
            break
        if isinstance(above, ast.If):
            holds = truth(above.test, values)
            negated = any(inner is one for one in above.orelse)
            told.append(holds if holds is None or not negated else not holds)
        inner = above
    return False if False in told else None if None in told else True


def truth(test: ast.expr, values: Mapping[str, Any]) -> bool | None:
    """Whether a condition of plain names and numbers holds; None for any other."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        holds = truth(test.operand, values)
        return None if holds is None else not holds
    if isinstance(test, ast.BoolOp):
        every = [truth(one, values) for one in test.values]
        decides = isinstance(test.op, ast.Or)
        return decides if decides in every else None if None in every else not decides
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return compared(test.left, test.ops[0], test.comparators[0], values)
    if isinstance(test, (ast.Name, ast.Attribute)):
        held = value_of(test, values)
        return bool(held) if isinstance(held, (bool, int, float, str)) else None
    return None


def compared(left: ast.expr, kind: ast.cmpop, right: ast.expr, values: Mapping[str, Any]) -> bool | None:
    """Whether two sides compare so: one with None, or two whole numbers."""
    empty = isinstance(right, ast.Constant) and right.value is None
    if empty and isinstance(kind, (ast.Is, ast.IsNot)) and isinstance(left, ast.Name) and left.id in values:
        return (values[left.id] is None) is isinstance(kind, ast.Is)
    if type(kind) not in COMPARED or any(isinstance(value_of(one, values), Tensor) for one in (left, right)):
        return None
    one, other = number_of(left, values), number_of(right, values)
    return COMPARED[type(kind)](one, other) if one is not None and other is not None else None
