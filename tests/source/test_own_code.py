"""The file's own functions."""

from __future__ import annotations

from tests.source.reading import last_value


def test_a_function_returns_what_all_its_returns_have_in_common():
    assert last_value("def f(x):\n    return torch.sigmoid(x)\nf(y)").form == "sigmoid"
    assert last_value("def f(x):\n    if a:\n        return x\n    return torch.sigmoid(x)\nf(y)").form == ""
    assert last_value("def f(x):\n    def g():\n        return x\n    return torch.sigmoid(x)\nf(y)").form == "sigmoid"


def test_a_parameter_is_what_every_call_passes():
    body = "def f(p, q=2):\n    return p\n"
    assert last_value(f"{body}f(torch.sigmoid(x))\nf(p=torch.sigmoid(y))").form == "sigmoid"
    assert last_value(f"{body}f(torch.sigmoid(x))\nf(z)").form == ""
    assert last_value(f"{body}f(*z)\nf(torch.sigmoid(x))").form == ""


def test_defaults_and_annotations():
    assert last_value("def f(eps=1e-6):\n    return eps\nf()").constant == 1e-6
    assert last_value("def f(eps=0.0):\n    return eps\nf()").constant is None
    assert last_value("def f(x: torch.Tensor):\n    return x\ng(f)\nf").tensor is None
    assert last_value("def f(x: torch.Tensor):\n    return x\nh = f()\nh").tensor is True


def test_recursion_ends():
    assert last_value("def f(x):\n    return f(x - 1)\nf(y)").tensor is None
