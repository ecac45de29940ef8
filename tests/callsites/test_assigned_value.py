"""What an assignment is made of."""

from __future__ import annotations

import ast

import pytest

from debugtracer.callsites.assigned_value import assigned_value, described


def of(text: str):
    return described(ast.parse(text, mode="eval").body)


def test_names_whose_values_are_read():
    assert of("f(x) + y * x").names == ("x", "y")
    assert of("torch.randn(x.shape, device=y.device)").names == ("torch",)
    assert of("torch.randn_like(x)").names == ("torch",)


@pytest.mark.parametrize(
    "text", ["F.softmax(x, -1)", "x.softmax(-1).cpu()", "x > 0", "x.max(1)[1]", "x.topk(3).indices"]
)
def test_what_looks_at_a_result(text):
    assert of(text).look


@pytest.mark.parametrize("text", ["x.masked_fill(m, 0)", "drop(x)", "x * w", "x.softmax(-1) @ y"])
def test_what_makes_something_of_it(text):
    assert not of(text).look and not of(text).taken


def test_what_is_called():
    assert of("torch.Generator().manual_seed(seed(1))").calls == {"Generator", "manual_seed", "seed"}


def test_entries_and_other_names():
    assert of("batch['mask'].to(device)").taken and of("out.logits").taken
    assert not of("x[places]").taken
    assert of("x").alias and not of("x.float()").alias


def test_the_line_and_the_name_decide(tmp_path):
    file = tmp_path / "program.py"
    file.write_text("a = f(x)\nb: int = g(y)\nc, d = h(z)\n")
    assert assigned_value(str(file), 1, "a").names == ("x",)
    assert assigned_value(str(file), 2, "b").names == ("y",)
    assert assigned_value(str(file), 3, "c") is None
    assert assigned_value(str(file), 1, "b") is None
