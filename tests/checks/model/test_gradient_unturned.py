"""Gradients that are handed on as they came."""

from __future__ import annotations

import pytest

from debugtracer.checks.model.gradient_unturned import GradientUnturned
from debugtracer.trace.facts.passed_gradient import PassedGradient
from tests.checks.facts_at import judged, line, ref


def fact(**other):
    given = {
        "function": "Reverse", "frame": line(18), "called": line(34), "ratio": 1.0, "numbers": 1, "unused": False,
        "from_zero": False, "branches": True,
    }  # fmt: skip
    return PassedGradient(ref=ref(0), **(given | other))


def test_a_branch_that_is_to_be_worked_against():
    (finding,) = judged(GradientUnturned(), [fact(), fact()])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "custom_backward_wrong", line(18))
    assert finding.message == (
        "step 0, rank 0: forward of Reverse (train.py:34) hands on its input, which another branch is given too, and "
        "backward gives 1 times the gradient that comes in: it works against nothing; expected a minus where a "
        "gradient is reversed. Return -alpha * grad_output."
    )


@pytest.mark.parametrize(
    ("other", "severity"),
    [
        ({"from_zero": True}, "warning"),
        ({"unused": True, "branches": False}, "warning"),
        ({"numbers": 0}, "warning"),
        ({"numbers": 0, "branches": False}, "note"),
    ],
)
def test_other_ways_to_do_nothing(other, severity):
    (finding,) = judged(GradientUnturned(), [fact(**other)])
    assert finding.severity == severity


@pytest.mark.parametrize(
    "other", [{"ratio": 0.1}, {"branches": False}, {"numbers": 0, "ratio": 0.5}, {"from_zero": True, "branches": False}]
)
def test_a_gradient_that_is_scaled_is_left_alone(other):
    assert judged(GradientUnturned(), [fact(**other)]) == []
