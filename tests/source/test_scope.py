"""Which assignments reach a use."""

from __future__ import annotations

import ast

import pytest

from tests.source.reading import read


def reaching(text):
    """The line numbers of the assignments that reach the last use of x."""
    source = read(text, head="")
    uses = [
        node
        for node in source.program.nodes
        if isinstance(node, ast.Name) and node.id == "x" and isinstance(node.ctx, ast.Load)
    ]
    return sorted(binding.node.lineno for binding in source.values.scope.reaching(uses[-1]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1\nx = 2\nf(x)", [2]),
        ("x = 1\nif a:\n    x = 2\nf(x)", [1, 3]),
        ("x = 1\nwith a:\n    x = 2\nf(x)", [3]),
        ("if a:\n    x = 1\nelse:\n    x = 2\nf(x)", [2, 4]),
        ("x = 1\nx = g(x)", [1]),
        ("x = 1\nfor i in y:\n    f(x)\n    x = 2", [1, 4]),
        ("x = 1\nx += 2\nf(x)", [2]),
        ("x = 1\nx[0] = 2\nf(x)", [2]),
        ("x = 1\nx.clamp_(0)\nf(x)", [2]),
        ("for x in y:\n    f(x)", [1]),
        ("a, x = 1, 2\nf(x)", [1]),
        ("x = 1\ndef g():\n    f(x)", [1]),
        ("x = 1\ndef g(x):\n    f(x)", [2]),
        ("f(x)", []),
    ],
)
def test_the_last_certain_one_and_those_on_branches_since(text, expected):
    assert reaching(text) == expected


def test_attributes_of_self_are_found_in_every_method_and_unknown_once_changed_elsewhere():
    text = (
        "class A:\n    def __init__(self):\n        self.a = 1\n        self.b = 0\n    def f(self):\n        self.b "
        "+= 1\n        self.c = None\nA().c = 2\n"
    )
    source = read(text, head="")
    scope, owner = source.values.scope, source.program.classes["A"]
    assert [ast.unparse(v) for v in scope.attribute(owner, "a") if v is not None] == ["1"]
    assert None in scope.attribute(owner, "b") and None in scope.attribute(owner, "c")
