"""A number without a best value."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.parameter_drift import ParameterDrift
from debugtracer.trace.facts.drifting_parameter import DriftingParameter
from tests.checks.optimizer.seen import at, found, line

WALK = {
    "name": "log_variance", "numbers": 3, "first": 0.0, "last": -51.4, "gradient": 1.0, "kept": 1.0, "loss": -153.0,
    "fall": 90.0, "explained": 90.0, "looks": 8, "frame": line(22),
}  # fmt: skip


def judged(**more):
    return found(ParameterDrift(), [DriftingParameter(ref=at(500), **{**WALK, **more})])


def test_a_sign_of_the_weight_of_tasks():
    (finding,) = judged()
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "loss_unbounded", line(22))
    assert finding.message == (
        "step 500, rank 0: log_variance (train.py:22) (3 numbers) drifts from 0 to -51.4 and its gradient stays 1: the "
        "loss is -153, and 100 % of its fall is that drift; expected a parameter that comes to rest. Turn a sign: "
        "exp(-s) * loss + s has a least value, exp(s) * loss + s has none."
    )


def test_one_number_without_a_name():
    (finding,) = judged(name="", numbers=1)
    assert "a parameter (train.py:22) drifts" in finding.message


@pytest.mark.parametrize("healthy", [{"loss": 3.0}, {"fall": -1.0}, {"explained": 30.0}, {"explained": 200.0}])
def test_a_loss_that_falls_by_something_else_is_silent(healthy):
    assert judged(**healthy) == []
