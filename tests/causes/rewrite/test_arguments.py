"""Arguments within bounds."""

from __future__ import annotations

import ast

import pytest

from debugtracer.causes.rewrite.arguments import is_whole, largest
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
