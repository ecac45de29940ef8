"""What is published of a step at rest: what was seen of it, under the names of its series."""

from __future__ import annotations

from debugtracer.recorder.gate.resting_row import Row, as_published, row
from debugtracer.recorder.listeners import ClosedStep
from debugtracer.trace.window import GRAD_L2, LOSS, LR, OWN_S, SCALE, STEP_S, WAIT_S

WHOLE = (7, 9, 0.5, 2.0, 0.1, 0.01, 3.0, 0.25, 8.0)


def test_a_row_is_made_of_its_values() -> None:
    assert row(WHOLE) == Row(*WHOLE)


def test_each_step_has_its_series_by_name() -> None:
    first, second = as_published([Row(*WHOLE), Row(*WHOLE)._replace(step=8, iteration=10, grad_l2=0.25)])
    expected = {GRAD_L2: 0.5, LOSS: 2.0, LR: 0.1, STEP_S: 0.01, OWN_S: 3.0, WAIT_S: 0.25, SCALE: 8.0}
    assert first == ClosedStep(7, 9, expected)
    assert (second.step, second.iteration, second.values[GRAD_L2]) == (8, 10, 0.25)


def test_what_was_not_seen_is_left_out() -> None:
    (closed,) = as_published([Row(*WHOLE)._replace(grad_l2=None, loss=None, wait_s=None, lr=object(), scale=None)])
    assert closed.values == {STEP_S: 0.01, OWN_S: 3.0}


def test_a_rate_of_0_and_a_wait_of_0_are_seen() -> None:
    (closed,) = as_published([Row(*WHOLE)._replace(loss=0.0, wait_s=0.0, lr=0)])
    assert (closed.values[LOSS], closed.values[WAIT_S], closed.values[LR]) == (0.0, 0.0, 0.0)
