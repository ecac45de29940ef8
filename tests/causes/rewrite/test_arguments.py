"""Arguments within bounds."""

from __future__ import annotations

import ast
import math

import pytest
import torch

from debugtracer.causes.rewrite.arguments import EXPONENT, MARGIN, TINY, is_whole, largest, tiny
from debugtracer.causes.rewrite.rewritten import rewritten


def clamp(code: str, op: str, **more: object) -> tuple[str, ...] | None:
    return rewritten(code, "clamp-argument", op=op, **more)  # type: ignore[arg-type]


def test_the_op_of_birth_says_which_call_is_meant():
    code = "return y * torch.log(p) + (1 - y) * torch.log1p(-p)"
    assert clamp(code, "log") == ("return y * torch.log(p.clamp_min(1e-08)) + (1 - y) * torch.log1p(-p)",)
    assert clamp(code, "log1p") == ("return y * torch.log(p) + (1 - y) * torch.log1p((-p).clamp_min(-1 + 1e-06))",)
    assert clamp(code, "sqrt") is None


def test_every_call_of_that_op_is_clamped():
    assert clamp("h = -(p * p.log() + q * q.log())", "log") == (
        "h = -(p * p.clamp_min(1e-08).log() + q * q.clamp_min(1e-08).log())",
    )


def test_a_clamp_that_is_too_wide_is_replaced_and_another_one_stays():
    assert clamp("y = torch.acos(c.clamp(-1.0, 1.0))", "acos") == ("y = torch.acos(c.clamp(-1 + 1e-06, 1 - 1e-06))",)
    assert clamp("y = torch.acos(c.clamp(low, high))", "acos") == (
        "y = torch.acos(c.clamp(low, high).clamp(-1 + 1e-06, 1 - 1e-06))",
    )
    assert clamp("y = c.clamp_max(1.0).log()", "log") == ("y = c.clamp_max(1.0).clamp_min(1e-08).log()",)


@pytest.mark.parametrize("code", ["y = x ** 2", "y = x.pow(2)", "y = 2 ** 0.5", "y = 2.0 ** x"])
def test_a_power_that_has_no_domain_to_leave_stays(code):
    assert clamp(code, "pow") is None


def test_an_eps_is_given_or_changed():
    assert clamp("y = torch.logit(p)", "logit") == ("y = torch.logit(p, eps=1e-06)",)
    assert clamp("y = p.logit()", "logit") == ("y = p.logit(eps=1e-06)",)
    assert clamp("y = p.logit(eps=0.0)", "logit") == ("y = p.logit(eps=1e-06)",)


def test_half_on_the_line_becomes_float():
    assert rewritten("s = q.half() @ k.half().T", "as-float", op="mm") == ("s = q.float() @ k.float().T",)
    assert rewritten("s = x.pow(2)", "as-float", op="pow") == ("s = x.float().pow(2)",)
    assert rewritten("s = q @ k", "as-float", op="mm") is None


def test_the_largest_exponent_is_the_one_given_unless_it_is_the_distance_from_an_edge():
    assert largest(None, "float32") == 20.0
    assert largest(None, "float16") == 10.0
    assert largest(1e-6, "float16") == 10.0
    assert largest(0.999, "float32") == 20.0
    assert largest(1.0, "float32") == 1.0
    assert largest(30.0, "float16") == 30.0


@pytest.mark.parametrize(
    ("node", "whole"), [("2", True), ("2.0", True), ("0.5", False), ("k", False), ("'2'", False), ("2 + 1", False)]
)
def test_a_whole_exponent_is_a_number_that_is_written_there(node, whole):
    assert is_whole(ast.parse(node, mode="eval").body) is whole


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_margin_is_the_least_that_does_not_round_to_the_edge(dtype):
    limits = torch.finfo(getattr(torch, dtype))
    assert limits.eps / 2 < MARGIN[dtype] < 2 * limits.eps
    assert float(torch.tensor(1 - MARGIN[dtype], dtype=getattr(torch, dtype))) < 1


def test_the_least_and_the_largest_of_float16_are_just_inside_its_range():
    limits = torch.finfo(torch.float16)
    assert limits.smallest_normal < TINY["float16"] < 2 * limits.smallest_normal
    assert math.exp(EXPONENT["float16"]) < limits.max < math.exp(EXPONENT["float16"] + 1.2)
    assert [tiny(None, "float16"), tiny(None, "float32"), tiny(0.25, "float16")] == [1e-4, 1e-8, 0.25]


def test_each_function_is_kept_from_the_edge_of_its_own_domain():
    code = {op: f"y = torch.{op}(x)" for op in ("log", "log1p", "acosh", "sqrt", "acos", "exp", "cosh", "logit")}

    def after(op, dtype="float32", value=None):
        (line,) = clamp(code[op], op, dtype=dtype, value=value)
        return line.partition("torch.")[2]

    assert after("log") == "log(x.clamp_min(1e-08))"
    assert after("log", "float16") == "log(x.clamp_min(0.0001))"
    assert after("log", value=0.01) == "log(x.clamp_min(0.01))"
    assert after("log1p") == "log1p(x.clamp_min(-1 + 1e-06))"
    assert after("log1p", "bfloat16") == "log1p(x.clamp_min(-1 + 0.01))"
    assert after("acosh", "float16") == "acosh(x.clamp_min(1 + 0.001))"
    assert after("sqrt") == "sqrt(x.clamp_min(1e-12))"
    assert after("sqrt", "float16") == "sqrt(x.clamp_min(0.0001))"
    assert after("acos", "float16") == "acos(x.clamp(-1 + 0.001, 1 - 0.001))"
    assert after("acos", value=0.5) == "acos(x.clamp(-1 + 0.5, 1 - 0.5))"
    assert after("exp") == "exp(x.clamp_max(20))"
    assert after("cosh", "float16") == "cosh(x.clamp(-10, 10))"
    assert after("logit", "float16") == "logit(x, eps=0.001)"
    assert after("logit", value=0.25) == "logit(x, eps=0.25)"


def test_the_base_of_a_power_that_is_no_whole_number_is_kept_above_zero():
    assert clamp("y = x ** 0.5", "pow") == ("y = x.clamp_min(1e-08) ** 0.5",)
    assert clamp("y = torch.pow(x, p)", "pow") == ("y = torch.pow(x.clamp_min(1e-08), p)",)
    assert clamp("y = x.pow(p)", "pow") == ("y = x.clamp_min(1e-08).pow(p)",)
    assert clamp("y = torch.pow(x, 3)", "pow") is None
    assert clamp("y = torch.xlogy(p, q)", "xlogy") == ("y = torch.xlogy(p, q.clamp_min(1e-08))",)
