"""When the numbers of a step wait for nobody, and how losses that are not finite are counted."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from debugtracer.diagnosis.step_publisher import StepPublisher
from debugtracer.recorder.listeners import ClosedStep
from debugtracer.trace.window import LOSS, NONFINITE_ROW

NAN = math.nan


class Run:
    """What the observers have put, and whether the next step is to be looked at closely."""

    def __init__(self, looks=True, facts=(), values=None, decided=3, step=5, idle_until=9, anomalies=0) -> None:
        self.facts, self.values, self.decided = list(facts), values or {}, decided
        self.state = SimpleNamespace(step=step, anomalies=anomalies)
        self.cadence = SimpleNamespace(idle_until=idle_until, seen=0)
        self.looks, self.asked = looks, 0

    @property
    def inspecting(self):
        self.asked += 1
        return self.looks

    def take_values(self):
        return self.values

    def take_facts(self):
        return self.facts


def a_publisher(run):
    """A publisher that keeps what is judged and written."""
    judged, written = [], []
    findings = SimpleNamespace(
        steps_done=lambda steps: judged.extend(step.step for step in steps),
        step_done=lambda step, values, facts, iteration: judged.append((step, iteration, facts)),
    )
    output = SimpleNamespace(
        point=lambda step, values: written.append((step, values)), points=lambda points: written.extend(points)
    )
    return StepPublisher(None, run, findings, output), judged, written


@pytest.mark.parametrize(
    ("told", "waits", "asked"),
    [
        ({"facts": ["a fact"]}, True, 0),
        ({"values": {"x": 1.0}}, True, 0),
        ({}, False, 0),
        ({"anomalies": 1}, True, 1),
        ({"anomalies": 1, "looks": False}, False, 1),
        ({"decided": None}, True, 1),
        ({"decided": 5}, True, 1),
        ({"decided": 4}, False, 0),
        ({"idle_until": 5}, True, 1),
        ({"idle_until": 6}, False, 0),
        ({"idle_until": 5, "looks": False}, False, 1),
    ],
)
def test_numbers_go_out_at_once_with_a_fact_or_before_a_step_that_is_looked_at(told, waits, asked):
    run = Run(**told)
    assert a_publisher(run)[0].waiting() is waits and run.asked == asked


def closed(step, **values):
    return ClosedStep(step, step + 1, values)


def test_what_the_observers_have_put_belongs_to_the_last_step():
    made, judged, written = a_publisher(Run(facts=["a fact"], values={"x": 1.0}))
    made.publish_all([closed(0, loss=1.0), closed(1, loss=2.0)])
    assert judged == [0, (1, 2, ["a fact"])]
    assert written == [(0, {"loss": 1.0}), (1, {"loss": 2.0, "x": 1.0})]
    made, judged, _ = a_publisher(Run())
    made.publish_all([closed(4)])
    assert judged == [(4, 5, [])]


@pytest.mark.parametrize(
    ("losses", "rows"),
    [
        ([1.0, NAN, math.inf, 1.0, 1.0], [None, 1.0, 2.0, 0.0, None]),
        ([NAN, None, NAN], [1.0, None, 2.0]),
        ([1.0, 2.0], [None, None]),
    ],
)
@pytest.mark.parametrize("together", [True, False])
def test_losses_in_a_row_that_are_not_finite_are_counted(losses, rows, together):
    made, _, written = a_publisher(Run())
    steps = [closed(n, **({} if loss is None else {LOSS: loss})) for n, loss in enumerate(losses)]
    if together:
        made.publish_all(steps)
    else:
        for step in steps:
            made.publish_all([step])
    assert [values.get(NONFINITE_ROW) for _, values in written] == rows


def test_a_row_that_began_before_ends_with_the_first_finite_loss_of_many():
    made, _, written = a_publisher(Run())
    made.publish_all([closed(0, loss=NAN)])
    made.publish_all([closed(1, loss=1.0), closed(2, loss=1.0)])
    assert [values.get(NONFINITE_ROW) for _, values in written] == [1.0, 0.0, None] and made.nonfinite == 0
