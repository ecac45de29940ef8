"""What bounds an expression on its way."""

from __future__ import annotations

import ast

import pytest

from debugtracer.source.bounds import bounded
from tests.source.reading import read


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("exp(x - x.max())", True),
        ("x = x.clamp(max=5)\nexp(x)", True),
        ("m, _ = x.max(1)\nexp(x - m)", True),
        ("s = F.cosine_similarity(a, b)\ns += 1\ns[0] = -math.inf\nexp(s)", True),
        ("exp(x)", False),
        ("x = y * 2\nexp(x)", False),
        ("def f(x):\n    exp(x)", False),
    ],
)
def test_a_largest_value_a_clamp_or_a_cosine(text, expected):
    source = read(text)
    call = [
        node
        for node in source.program.nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "exp"
    ][-1]
    assert bounded(source.values, call.args[0]) is expected
