"""Each expression is worked out once; loops and chains without end are cut."""

from __future__ import annotations

import ast
from pathlib import Path

from debugtracer.source.expressions import BUDGET, DEEP, Expressions
from debugtracer.source.program import parse
from debugtracer.source.value import UNKNOWN, Value, number


class Sum(Expressions):
    """A number is itself, a sum the sum of its parts, a name what was assigned to it."""

    def worked_out(self, node: ast.AST) -> Value:
        match node:
            case ast.Constant(value=int() as literal):
                return number(float(literal))
            case ast.BinOp():
                left, right = self.of(node.left).constant, self.of(node.right).constant
                return UNKNOWN if left is None or right is None else number(left + right)
            case ast.Name():
                values = [b.value for b in self.scope.reaching(node) if b.value is not None]
                return self.of(values[0]) if values else UNKNOWN
        raise ValueError("not worked out")


class Endless(Sum):
    """Every expression leads to itself."""

    def worked_out(self, node: ast.AST) -> Value:
        return self.of(node)


def summed(text: str) -> tuple[Sum, ast.expr]:
    program = parse(Path("sum.py"), text.encode())
    assert program is not None
    return Sum(program), [n.value for n in program.nodes if isinstance(n, ast.Expr)][-1]


def test_an_expression_is_worked_out_once() -> None:
    expressions, node = summed("1 + 2")
    assert expressions.of(node).constant == 3.0
    asked = expressions.asked
    assert expressions.of(node).constant == 3.0 and expressions.asked == asked == 3


def test_a_loop_is_not_known_and_ends() -> None:
    expressions, node = Endless(summed("x")[0].program), ast.parse("x").body[0]
    assert expressions.of(node) == UNKNOWN
    assert (expressions.asked, expressions.cut, expressions.busy) == (1, 1, set())


def test_what_cannot_be_worked_out_is_unknown() -> None:
    expressions, node = summed("'text'")
    assert expressions.of(node) == UNKNOWN and not expressions.busy


def test_a_chain_longer_than_the_limit_is_cut() -> None:
    expressions, node = summed(" + ".join(["1"] * (DEEP * 2)))
    assert expressions.of(node) == UNKNOWN
    short, node = summed(" + ".join(["1"] * (DEEP // 2)))
    assert short.of(node).constant == DEEP // 2


def test_a_file_costs_no_more_than_its_budget() -> None:
    expressions, node = summed("1 + 2")
    expressions.asked = BUDGET + 1
    assert expressions.of(node) == UNKNOWN
