"""Weights that grow without end."""

from __future__ import annotations

import math

from debugtracer.checks.optimizer.weight_norm_growth import Size, WeightNormGrowth, rate
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.health import Health
from debugtracer.trace.facts.wiring import OptimizerWiring, Wiring
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import PARAM_L2, Window
from tests.checks.test_snapshots import an_update, judged
from tests.trace.facts.test_health import a_row

STEPS = range(0, 1300, 100)


def snapshots(size, shape=(32, 32), name="body.weight"):
    rows = ((step, a_row(name, shape=shape, l2=size(step))) for step in STEPS)
    return [
        Health(ref=StepRef(iteration=step, step=step), tensors=(row,), params=(an_update(name),)) for step, row in rows
    ]


def run(size, **more):
    return judged(WeightNormGrowth(), *snapshots(size, **more))


def steady(times):
    return lambda step: 5.0 * times ** (step / 1000)


def test_a_norm_that_grows_by_the_same_factor_is_a_warning_once():
    (finding,) = run(steady(40.0))
    assert (finding.severity, finding.step, finding.kind, finding.place.param) == (
        "warning",
        100,
        "weight_growth",
        "body.weight",
    )
    assert finding.message == (
        "step 100, rank 0: the norm of body.weight has grown from 7.23 at step 100 to 45.7, 6.32 times in 500 steps by "
        "a steady factor (40 times in 1000 steps); expected less than 10 times in 1000. Look at the sign of penalties, "
        "add weight decay."
    )


def test_at_the_threshold():
    assert run(steady(10.1))
    assert run(steady(9.9)) == []


def test_growth_that_slows_down_is_no_endless_one():
    assert run(lambda step: 5.0 + 0.2 * step) == []  # linear: Adam at a high rate
    assert run(lambda step: 5.0 * math.sqrt(1 + step)) == []  # a scale-invariant weight under SGD
    assert run(lambda step: 5.0 * 40 ** min(step / 1000, 0.4)) == []


def test_weights_that_begin_near_zero_and_vectors_are_left_alone():
    assert run(lambda step: 0.01 * 40.0 ** (step / 1000)) == []
    assert run(steady(40.0), shape=(1024,)) == []


def totals(size, until=1300):
    check, memories, found = WeightNormGrowth(), {}, []
    for step in range(until):
        ref = StepRef(iteration=step, step=step)
        found += check.judge(
            Window(ref=ref, series={PARAM_L2: (size(step),)}, fresh=frozenset({PARAM_L2}), memories=memories)
        )
    return found


def test_without_snapshots_the_norm_of_all_parameters_is_judged():
    (finding,) = totals(steady(40.0))
    assert finding.message.startswith(
        "step 100, rank 0: the norm of all parameters has grown from 7.23 at step 100 to 45.7, 6.32 times in 500 steps"
    )
    assert finding.place.param is None
    assert totals(steady(9.0)) == []
    assert totals(steady(40.0), until=590) == []


def test_the_line_of_the_optimizer_is_the_place():
    frame = Frame("/x/train.py", 16, "<module>", "")
    wiring = Wiring(
        ref=StepRef(iteration=0, step=0),
        params=(),
        optimizers=(OptimizerWiring(kind="Adam", frame=frame, held=1, strangers=0),),
    )
    seen = snapshots(steady(40.0))[:7]
    window = Window(ref=seen[-1].ref, facts={Health: seen, Wiring: [wiring]}, came={Health: 1})
    assert [finding.place.frame for finding in WeightNormGrowth().judge(window)] == [frame]


def test_a_matrix_that_begins_at_zero_has_no_rate():
    assert run(lambda step: 0.0 if step == STEPS[0] else steady(40.0)(step)) is not None
    assert rate([Size(StepRef(iteration=0, step=0), 0.0), Size(StepRef(iteration=9, step=9), 1.0)]) == 0.0
    assert rate([Size(StepRef(iteration=0, step=0), 1.0)] * 2) == 0.0
