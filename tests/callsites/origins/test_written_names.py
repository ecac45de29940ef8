"""The writes to one name."""

from __future__ import annotations

import ast

import pytest

from debugtracer.callsites.origins.written_names import final_name, part_of, writes_of

TEXT = """\
x = 1
x[2] = 3
x += 1
x.fill_(0)
a, x = f(), g()
b, x = h()
self.register_buffer("mask", m)
self.mask.zero_()
y: int = 4
"""


def test_all_ways_to_write_a_name_in_the_order_of_the_text():
    found = writes_of(ast.parse(TEXT), "x")
    assert [w.node.lineno for w in found] == [1, 2, 3, 4, 5, 6]
    assert [w.part for w in found] == [None, None, None, None, None, 1]
    assert ast.unparse(found[4].value) == "g()"


def test_a_buffer_is_an_attribute_of_its_module():
    assert [w.node.lineno for w in writes_of(ast.parse(TEXT), "self.mask")] == [7, 8]
    assert [w.node.lineno for w in writes_of(ast.parse(TEXT), "y")] == [9]


def test_a_part_under_its_key():
    text = 'd["a"] = 1\nd["b"][0] = 2\nd["a"].append(3)\nd[k] = 4\nd["b"] += 5\nd["b"].zero_()\nd[0] = 6\nd = {}\n'
    found = writes_of(ast.parse(text), "d")
    assert [w.key for w in found] == ["a", "b", "a", None, "b", "b", None, None]
    assert [w.node.lineno for w in found if w.reaches("a")] == [1, 3, 4, 7, 8]
    assert len([w for w in found if w.reaches(None)]) == len([w for w in found if w.reaches(0)]) == 8


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [("(a, b)", 1, "b"), ("{'k': v}", "k", "v"), ("(a,)", None, "a"), ("f()", 3, "f()"), ("(a, b)", 5, None)],
)
def test_a_part_of_an_expression(text, part, expected):
    found = part_of(ast.parse(text, mode="eval").body, part)
    assert (ast.unparse(found) if found is not None else None) == expected


def test_the_last_word_of_what_is_called():
    assert [final_name(ast.parse(t, mode="eval").body) for t in ("a.b.c", "d", "e[0]")] == ["c", "d", ""]
