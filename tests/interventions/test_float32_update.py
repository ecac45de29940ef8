"""Half-precision weights updated through float32 copies."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer import session
from debugtracer.interventions.float32_update import in_float32
from debugtracer.interventions.intervention import interventions
from tests.replay.pasts import Loop, training, tried


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def halved(make) -> Loop:
    loop = Loop(make, net=lambda: nn.Linear(4, 1).to(torch.bfloat16))
    x = loop.data[0][0].to(torch.bfloat16)
    loop.data = [(x, 3 * x[:, :1] + 2)] * len(loop.data)
    return loop


def test_updates_that_are_rounded_away_add_up_in_the_copies(tmp_path):
    loop = halved(lambda p: torch.optim.SGD(p, lr=1e-4))
    with training(tmp_path, loop) as trials:
        plain, copied = tried(trials, "unchanged"), tried(trials, "float32-update")
        assert copied.change == "the updates added to float32 copies of the weights"
        assert copied.loss is not None and plain.loss is not None
        assert copied.loss < plain.loss


def test_the_moments_are_copied_and_not_shared(tmp_path):
    loop = halved(lambda p: torch.optim.Adam(p, lr=1e-3))
    loop.train()
    other, pairs = in_float32(loop.optimizer)
    for copy, weight in pairs:
        assert copy.dtype is torch.float32 and torch.equal(copy, weight.float())
        now, then = other.state[copy], loop.optimizer.state[weight]
        assert torch.equal(now["exp_avg"], then["exp_avg"].float())
        assert now["step"] is not then["step"] and now["step"] == then["step"]


def test_full_weights_are_refused(tmp_path):
    with training(tmp_path, Loop()) as trials:
        assert trials.run(interventions()["float32-update"]).refused == "no weight is in half precision"
