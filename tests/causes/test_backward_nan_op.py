"""Finite value, infinite derivative."""

from __future__ import annotations

import msgspec

from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts
from debugtracer.trace.birth import Frame


def born_in_backward(op, **more):
    return some_facts(
        a_birth(op, a_tensor(0.0), direction="backward", backward_op="aten::div", **more), symptom="inf_grad"
    )


def test_fires_on_sqrt_at_zero_and_says_where_the_derivative_is_infinite():
    evidence = evidence_of("backward-nan-op", born_in_backward("aten::sqrt"))
    assert evidence is not None
    assert evidence.because == (
        "the value of sqrt is finite but its derivative (computed by div) is not: sqrt has an infinite derivative at 0"
    )
    assert evidence.remedies[0].startswith("add eps inside: torch.sqrt(x + 1e-12)")


def test_fires_on_the_branch_that_where_did_not_select():
    evidence = evidence_of("backward-nan-op", born_in_backward("aten::log", kind="0/0"))
    assert evidence is not None
    assert evidence.remedies[0] == "make the argument safe first: torch.log(torch.where(x > 0, x, 1))"


def test_fires_with_less_confidence_on_an_op_it_does_not_know():
    evidence = evidence_of("backward-nan-op", born_in_backward("aten::special_i0"))
    assert evidence is not None
    assert evidence.confidence == 0.75


def test_stays_silent_on_a_forward_birth_and_on_an_overflow():
    assert evidence_of("backward-nan-op", some_facts(a_birth("aten::sqrt", a_tensor(-1.0)))) is None
    assert evidence_of("backward-nan-op", born_in_backward("aten::mm", kind="overflow")) is None


def test_the_line_that_made_a_divisor_0_is_told_of_divisions_alone():
    made = (Frame(file="train.py", line=7, function="schedule", code="alpha = beta.cumprod(0)"),)
    division, root = (
        evidence_of("backward-nan-op", msgspec.structs.replace(born_in_backward(op), made=made))
        for op in ("aten::div", "aten::sqrt")
    )
    assert division is not None and root is not None
    assert division.because.endswith("; what it divides by is made 0 at train.py:7")
    assert division.place is not None and division.place.frame == made[0]
    assert "divides" not in root.because
    assert root.place is None
