"""Silence: nothing of the session listens inside."""

from __future__ import annotations

import torch
from torch import nn

from tests.watching import under_watch


def test_inside_nothing_is_counted_and_afterwards_everything_is(tmp_path):
    with under_watch(tmp_path / "runs") as session:
        model = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        with session.silent():
            assert session.desk.off
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
        assert (session.recorder.iteration, session.recorder.step) == (0, 0)
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        assert (session.recorder.iteration, session.recorder.step) == (1, 1)
        assert not session.desk.off
