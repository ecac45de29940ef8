"""The fact of a rate that is next to nothing."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from debugtracer.trace.facts.schedule import RateFaded
from tests.observers.observing import facts
from tests.watching import under_watch


def test_a_rate_that_the_loop_lets_fall_is_counted(tmp_path: Path):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    with under_watch(tmp_path):
        for step in range(8):
            optimizer.param_groups[0]["lr"] = 0.1**step
            model(torch.randn(3, 4)).mean().backward()
            optimizer.step()
    (fact,) = facts(tmp_path, RateFaded)
    assert (fact.peak, fact.updates, fact.faded, fact.since) == (1.0, 8, 4, 4)
