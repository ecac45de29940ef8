"""What patterns ask of a file."""

from __future__ import annotations

import ast

import pytest

from tests.source.reading import read


def log_of(text):
    source = read(text)
    return source, next(iter(source.calls("log")))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("torch.log(x)", 1),
        ("x.log()", 1),
        ("x.log_()", 1),
        ("torch.log(input=x)", 1),
        ("logger.log()", 1),  # nobody knows: only the value of its receiver can tell
        ("logger.log('text')", 0),
        ("math.log(2)", 0),
        ("np.log(x)", 0),
        ("torch.log(*x)", 0),
        ("v = np.ones(2)\nv.log()", 0),
    ],
)
def test_calls_of_torch_by_name(text, count):
    assert len(list(read(text).calls("log"))) == count


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("with torch.no_grad():\n    torch.log(x)", True),
        ("with torch.inference_mode(), a:\n    torch.log(x)", True),
        ("@torch.no_grad()\ndef f(x):\n    torch.log(x)", True),
        ("@torch.no_grad\ndef f(x):\n    torch.log(x)", True),
        ("with torch.set_grad_enabled(False):\n    torch.log(x)", True),
        ("with torch.set_grad_enabled(train):\n    torch.log(x)", False),
        ("with torch.enable_grad():\n    torch.log(x)", False),
        ("class D(torch.utils.data.Dataset):\n    def __getitem__(self, i):\n        return torch.log(i)", True),
        (
            (
                "class S(torch.autograd.Function):\n    @staticmethod\n    def backward(ctx, g):\n        return "
                "torch.log(g)"
            ),
            True,
        ),
        ("class M(nn.Module):\n    def forward(self, x):\n        return torch.log(x)", False),
    ],
)
def test_where_no_gradient_is_made(text, expected):
    source, call = log_of(text)
    assert source.no_grad(call.node) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if x.min() > 0:\n    torch.log(x)", True),
        ("y = torch.log(x) if x.all() else 0", True),
        ("def f(x):\n    if not x.any():\n        return 0\n    return torch.log(x)", True),
        ("assert (x > 0).all()\ntorch.log(x)", True),
        ("n = x.sum()\nif x.any():\n    torch.log(n)", True),
        ("if self.ready:\n    torch.log(self.p)", False),
        ("if x is not None:\n    torch.log(x)", False),
        ("if isinstance(x, list):\n    torch.log(x)", False),
        ("if other > 0:\n    torch.log(x)", False),
        ("torch.log(x)\nassert x.all()", False),
        ("if x.any():\n    pass\ntorch.log(x)", False),
        ("if x.min() == 0:\n    x = x + 1\ntorch.log(x)", True),
    ],
)
def test_conditions_that_look_at_the_operand(text, expected):
    source, call = log_of(text)
    assert source.tested(call.node, call.operand) is expected


def test_repairs_wheres_and_weights():
    source, call = log_of("torch.nan_to_num(torch.log(x))")
    assert source.repaired(call.node) and source.guarded(call.node, call.operand)
    source, call = log_of("torch.where(c, torch.log(x), 0)")
    assert not source.repaired(call.node) and source.guarded(call.node, call.operand)
    source, call = log_of("w = layer.weight\ntorch.log(w)")
    assert source.of_weight(call.operand)


def test_divisions_in_every_spelling():
    source = read("a / b\na /= b\ntorch.div(a, b)\na.div_(b)\ntorch.reciprocal(b)\na // b")
    assert [ast.unparse(below) for _, _, below in source.divisions()] == ["b"] * 5
