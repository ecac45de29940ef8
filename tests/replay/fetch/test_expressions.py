"""Parts of a statement computed again with the names as they were."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from debugtracer.replay.fetch.expressions import MISSING, Names, operands, turns_of, written_value


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def test_a_copied_attribute_stands_for_the_living_one():
    class Owner:
        table = 5.0

    names = Names({}, {"self": Owner(), "self.table": 2.0, "x": 3.0})
    assert names.value(expression("self.table * x")) == 6.0


def test_what_raises_is_missing():
    assert Names({}, {}).value(expression("nobody / 0")) is MISSING


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("x = a / b", "x", "a / b"),
        ("x, y = a, b", "y", "b"),
        ("x /= s", "x", "x / s"),
        ("return a, b", "", "(a, b)"),
        ("yield a", "", "a"),
        ("for x in rows: pass", "x", "rows"),
        ("x.div_(s)", "x", "x.div_(s)"),
    ],
)
def test_what_a_statement_writes(text: str, name: str, value: str):
    found = written_value(ast.parse(text).body[0], name)
    assert found is not None
    assert ast.unparse(found) == value


def test_the_parts_of_a_call_are_its_object_and_its_arguments():
    assert [ast.unparse(one) for one in operands(expression("x.div(a, *b, out=c)"))] == ["x", "a", "b", "c"]


def test_a_comprehension_is_gone_through_turn_by_turn():
    names = Names({"np": np}, {"rows": [(1, 2.0), (3, 0.0)]})
    found = [
        inner.value(element) for element, inner in turns_of(expression("[b / 2 for a, b in rows if a > 1]"), names)
    ]
    assert found == [0.0]
