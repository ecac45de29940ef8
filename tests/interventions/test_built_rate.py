"""The same updates with the rate that the optimizer was built with."""

from __future__ import annotations

import pytest
import torch

from debugtracer import session
from debugtracer.interventions.built_rate import moved
from debugtracer.interventions.intervention import interventions
from tests.replay.pasts import Loop, training, tried


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def scheduled(factor: float) -> Loop:
    loop = Loop(lambda p: torch.optim.SGD(p, lr=0.05))
    torch.optim.lr_scheduler.LambdaLR(loop.optimizer, lambda step: factor)
    loop.data = [loop.data[0]] * len(loop.data)
    return loop


def test_a_rate_that_a_schedule_holds_at_almost_0_is_put_back(tmp_path):
    loop = scheduled(1e-4)
    with training(tmp_path, loop) as trials:
        plain, built = tried(trials, "unchanged"), tried(trials, "built-rate")
        assert built.change == "the learning rate it was built with, 0.05"
        assert built.loss is not None and plain.loss is not None
        assert plain.loss == pytest.approx(loop.losses[0], rel=1e-3)
        assert built.loss < 0.9 * plain.loss
    assert loop.optimizer.param_groups[0]["lr"] == pytest.approx(5e-6)


@pytest.mark.parametrize("loop", [lambda: scheduled(1.0), Loop])
def test_a_rate_that_no_schedule_has_moved_is_refused(tmp_path, loop):
    with training(tmp_path, loop()) as trials:
        assert trials.run(interventions()["built-rate"]).refused == "no schedule has moved the learning rate"


def test_what_counts_as_moved():
    assert not moved((0.1, 0.1))
    assert not moved((0.1, None))
    assert moved((0.05, 0.1)) and moved((0.5, 0.1)) and moved((torch.tensor(0.0), 0.1))
