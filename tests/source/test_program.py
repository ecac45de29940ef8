"""A file as a tree."""

from __future__ import annotations

import ast
from pathlib import Path

from debugtracer.source.program import methods, parse, place


def program(text):
    found = parse(Path("a.py"), text.encode())
    assert found is not None
    return found


def first(found, kind):
    return next(node for node in found.nodes if isinstance(node, kind))


def test_a_file_that_is_no_python_is_none():
    assert parse(Path("a.py"), b"print 'two'\n") is None
    assert parse(Path("a.py"), b"x = '\x00'\n") is None
    assert parse(Path("a.py"), b"(" * 5000 + b")" * 5000) is None


def test_nodes_come_in_the_order_of_the_text_with_their_holders():
    found = program("class A:\n    def f(self):\n        x = 1\n        return x\ny = 2\n")
    assert [place(n) for n in found.nodes] == sorted(place(n) for n in found.nodes)
    returned = first(found, ast.Return)
    function, owner = found.function(returned), found.owner(returned)
    assert function is not None and owner is not None and (function.name, owner.name) == ("f", "A")
    assert set(methods(owner)) == {"f"} and set(found.classes) == {"A"} and set(found.functions) == set()


def test_the_blocks_around_a_node_end_at_its_function():
    found = program("a = 0\ndef f():\n    b = 1\n    if b:\n        c = 2\n        return c\n")
    sizes = [len(block) for block, _ in found.blocks(first(found, ast.Return))]
    assert sizes == [2, 2]


def test_a_long_expression_is_shown_cut():
    found = program("x = " + " + ".join(["value"] * 30))
    shown = found.shown(first(found, ast.BinOp))
    assert len(shown) == 60 and shown.endswith("...")


def test_nodes_of_one_class_come_in_the_order_of_the_text():
    found = program("def f():\n    a = g(h(1))\nb = f()\n")
    assert [ast.unparse(call) for call in found.every(ast.Call)] == ["g(h(1))", "h(1)", "f()"]
    assert found.every(ast.Lambda) == []
