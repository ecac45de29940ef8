"""Scalars of the program as series."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.probes.logged import read, scalar
from debugtracer.trace.events import Observed
from tests.watching import events, under_watch


def test_tensorboard_and_a_validation_loop(tmp_path):
    from torch.utils.tensorboard import SummaryWriter

    before = SummaryWriter.add_scalar
    with under_watch(tmp_path / "runs") as session:
        model, criterion = nn.Linear(3, 1), nn.MSELoss()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        writer = SummaryWriter(str(tmp_path / "tb"))
        for step in range(4):
            model.train()
            optimizer.zero_grad()
            loss = criterion(model(torch.ones(2, 3)), torch.zeros(2, 1))
            loss.backward()
            optimizer.step()
            writer.add_scalar("train/loss", loss.item(), step)
            model.eval()
            with torch.no_grad():
                criterion(model(torch.ones(2, 3)), torch.zeros(2, 1))
        writer.close()
        session.incidents.live.finish()
        series = session.incidents.live.judge.series
    assert SummaryWriter.add_scalar is before
    assert len(series["logged/train/loss"]) == 3
    assert len(series["val_loss"]) == 3
    told = [e.fact for e in events(tmp_path / "runs") if isinstance(e, Observed) and e.word == "logged/Logged"]
    assert [f["at"] for f in told] == [0, 1, 2, 3]
    assert all(f["ratio"] == pytest.approx(1.0) for f in told)


def test_other_loggers_are_read_by_their_arguments():
    assert read("wandb", None, ({"loss": 0.5, "note": "text"},), {"step": 3}) == ({"loss": 0.5}, 3)
    assert read("lightning", None, ("val_loss", torch.tensor(2.0)), {}) == ({"val_loss": 2.0}, None)
    assert scalar(torch.ones(2)) is None
    assert scalar("0.5") is None
