"""What a vector says that has arrived."""

from __future__ import annotations

import math

import pytest
import torch

from debugtracer.recorder.gate.pending_read import PendingRead
from debugtracer.recorder.tape.step_tape import Segment

OPTIMIZER = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)


@pytest.mark.parametrize(
    ("gradients", "losses", "values", "said"),
    [
        (2, 1, [3.0, 4.0, 0.5, 6.0, 8.0], (5.0, [0.5], False, 10.0)),
        (2, 0, [3.0, 4.0], (5.0, [], False, 0.0)),
        (1, 2, [math.inf, 0.5, 0.25, 1.0], (math.inf, [0.5, 0.25], True, 1.0)),
        (1, 1, [1.0, math.inf], (1.0, [math.inf], True, 0.0)),
        (1, 1, [1.0, 0.5, math.inf, 1.0], (1.0, [0.5], False, math.inf)),
        (0, 1, [2.0, 0.0, 1.0, 0.5, 3.0], (2.0, [0.5], True, 3.0)),
        (0, 1, [math.inf, 0.0, 0.0, 0.5], (math.inf, [0.5], False, 0.0)),
    ],
)
def test_norms_losses_and_weights_are_taken_apart(
    gradients: int, losses: int, values: list[float], said: tuple
) -> None:
    assert PendingRead(OPTIMIZER, Segment(0), 3, False, gradients, losses).read(values)[:4] == said


def test_a_number_that_is_none_is_bad() -> None:
    read = PendingRead(OPTIMIZER, Segment(0), 3, False, 1, 1).read([math.nan, 0.5])
    assert read.bad and math.isnan(read.grad_l2)


@pytest.mark.parametrize("weights_bad", [True, False])
@pytest.mark.parametrize("loss", [0.5, math.inf])
def test_an_infinite_norm_of_a_clip_is_bad_where_weights_or_losses_are(loss: float, weights_bad: bool) -> None:
    read = PendingRead(OPTIMIZER, Segment(0), 3, False, 1, 1, clipped=True).read([math.inf, loss])
    assert read.bad and read.after_clip(weights_bad).bad is (weights_bad or math.isinf(loss))


@pytest.mark.parametrize(("loss", "bad"), [(0.5, False), (math.nan, True)])
def test_under_a_scaler_the_loss_alone_is_judged_and_the_scale_is_read(loss: float, bad: bool) -> None:
    read = PendingRead(OPTIMIZER, Segment(0), 3, True, 1, 1, scaler=object()).read([math.inf, loss, 1024.0, 2.0])
    assert (read.bad, read.scale, read.param_l2) == (bad, 1024.0, 2.0)
    assert set(read.series()) == {"grad_l2", "loss", "scale", "param_l2"}


def test_what_the_device_judged_is_bad_by_the_largest_magnitudes_alone() -> None:
    sent = PendingRead(OPTIMIZER, Segment(0), 3, True, 2, 1, 2)
    assert sent.read([math.inf, 1.0, 3e38, 1.0, 0.5, 2.0])[:4] == (math.inf, [0.5], False, 2.0)
    assert sent.read([math.inf, 1.0, math.inf, 1.0, 0.5])[:4] == (math.inf, [0.5], True, 0.0)
