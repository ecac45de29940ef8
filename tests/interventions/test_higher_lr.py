"""The same updates with a larger learning rate."""

from __future__ import annotations

import pytest
import torch

from debugtracer import session
from debugtracer.interventions.higher_lr import HigherLr
from tests.replay.pasts import Loop, training, tried


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


@pytest.mark.parametrize("rate", [1e-3, torch.tensor(1e-3)])
def test_it_gets_further_where_only_the_rate_is_small(tmp_path, rate):
    loop = Loop(lambda p: torch.optim.Adam(p, lr=rate))
    loop.data = [loop.data[0]] * len(loop.data)
    with training(tmp_path, loop) as trials:
        plain, higher = tried(trials, "unchanged"), tried(trials, "higher-lr", 20.0)
        assert higher.loss is not None and plain.loss is not None
        assert higher.loss < plain.loss
        assert higher.change == "the learning rate multiplied by 20"
    assert float(loop.optimizer.param_groups[0]["lr"]) == pytest.approx(1e-3)


def test_its_name_holds_the_factor():
    assert (HigherLr().name, HigherLr(3.0).name) == ("higher-lr=10", "higher-lr=3")
