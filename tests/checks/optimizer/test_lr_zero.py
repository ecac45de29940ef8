"""Rates of 0 and below."""

from __future__ import annotations

from typing import Any

import pytest

from debugtracer.checks.optimizer.lr_zero import LrZero
from debugtracer.trace.birth import Frame
from tests.checks.optimizer.seen import found, line, rate, schedule


def test_it_points_to_the_line_of_the_factor_and_the_first_such_update():
    fact = rate(low=0.0, high=0.0, same=20, scheduler="LambdaLR", scheduler_frame=line(33), value_frame=line(23))
    (finding,) = found(LrZero(), [fact])
    assert finding.message == (
        "step 0, rank 0: the learning rate of AdamW is 0 in 20 updates running (LambdaLR, train.py:33), the factor "
        "comes from train.py:23; expected a rate "
        "above 0. Print the factor over the steps of the run."
    )
    assert (finding.kind, finding.place.frame, finding.iteration, finding.exact) == (
        "scheduler_misuse",
        line(23),
        0,
        True,
    )


def test_a_scheduler_that_begins_at_0_and_is_not_stepped_is_the_place():
    more = {"scheduler": "LambdaLR", "scheduler_frame": line(33), "value_frame": line(23)}
    (finding,) = found(LrZero(), [rate(low=0.0, high=0.0, same=20, calls=0, **more)])
    assert finding.place.frame == line(33)
    assert "it begins at 0 and was not stepped in them, as where it is stepped once an epoch;" in finding.message
    assert finding.remedy[0].startswith("step the scheduler after each update")
    (stepped,) = found(LrZero(), [rate(low=0.0, high=0.0, same=20, calls=20, **more)])
    assert stepped.place.frame == line(23)


def test_without_a_scheduler_it_is_the_optimizer():
    (finding,) = found(LrZero(), [rate(low=0.0, high=0.0, same=20)])
    assert (finding.kind, finding.place.frame) == ("lr_zero", line(5))


def test_a_negative_rate_is_told_at_once():
    (finding,) = found(LrZero(), [rate(low=-2e-4, high=-2e-4, scheduler="LambdaLR", scheduler_frame=line(33))])
    assert "is -0.0002, so updates climb the loss (LambdaLR, train.py:33); expected" in finding.message


def test_a_fraction_that_runs_through_its_end_is_the_place():
    more = {"scheduler": "LambdaLR", "scheduler_frame": line(33), "value_frame": line(23), "fraction_frame": line(21)}
    (finding,) = found(LrZero(), [rate(low=-2e-4, high=-2e-4, **more)])
    assert finding.place.frame == line(21)
    assert "comes from train.py:23 by a fraction that nothing keeps below 1 (train.py:21); expected" in finding.message
    assert finding.remedy[0].startswith("keep the fraction within its range")


@pytest.mark.parametrize(
    ("more", "place", "said"),
    [
        ({"micro": 9, "per_update": 4, "step_frame": line(18)}, line(18),
         "it is stepped 4 times per update (train.py:18), once for each backward, expected once per update"),
        ({"doubled": 9, "doubled_frame": line(20), "step_frame": line(18)}, line(20),
         "it is stepped a second time (train.py:20) before the next update, expected once per update"),
        ({"micro": 1, "per_update": 4, "step_frame": line(18)}, line(23), "comes from train.py:23; expected a rate"),
    ],
)  # fmt: skip
def test_a_schedule_that_is_stepped_too_often_is_told_at_the_call(more: dict[str, Any], place: Frame, said: str):
    stepped = schedule(kind="LambdaLR", frame=line(33), **more)
    zero = rate(
        low=0.0, high=0.0, same=20, begun=80, begun_step=20, scheduler="LambdaLR", scheduler_frame=line(33),
        value_frame=line(23),
    )  # fmt: skip
    (finding,) = found(LrZero(), [stepped, zero])
    assert (finding.place.frame, said in finding.message) == (place, True)


def test_a_rate_that_the_loop_has_lowered_itself_is_a_schedule():
    (finding,) = found(LrZero(), [rate(low=-6e-4, high=-6e-4, begun=80, begun_step=80)])
    assert "of AdamW is -0.0006, so updates climb the loss (written by the loop itself); expected" in finding.message
    assert finding.kind == "scheduler_misuse"


@pytest.mark.parametrize("healthy", [{"low": 0.0, "high": 0.0, "same": 1}, {"low": 0.0, "high": 1e-3, "same": 900}, {}])
def test_the_first_update_of_a_warm_up_and_a_frozen_group_are_healthy(healthy: dict[str, float]):
    assert found(LrZero(), [rate(**healthy)]) == []
