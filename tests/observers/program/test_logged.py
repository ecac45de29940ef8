"""Scalars of the program as series."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from debugtracer.observers.program.logged import RARELY, read, scalar
from debugtracer.recorder.governor import FIRST_STEPS
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
        session.incidents.findings.live.finish()
        series = session.incidents.findings.live.judge.series
    assert SummaryWriter.add_scalar is before
    assert len(series["logged/train/loss"]) == 3
    assert len(series["val_loss"]) == 3
    told = [e.fact for e in events(tmp_path / "runs") if isinstance(e, Observed) and e.word == "logged/Logged"]
    assert [f["at"] for f in told] == [0, 1, 2, 3]
    assert all(f["ratio"] == pytest.approx(1.0) for f in told)


def evaluated(out, score, grad=False):
    with under_watch(out) as session:
        model = nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            model.train()
            optimizer.zero_grad()
            F.mse_loss(model(torch.ones(2, 3)), torch.zeros(2, 1)).backward()
            optimizer.step()
            model.eval()
            with torch.set_grad_enabled(grad):
                score(model(torch.ones(2, 3)), torch.zeros(2, 1))
        session.incidents.findings.live.finish()
        return session.incidents.findings.live.judge.series


def test_a_loss_function_of_a_validation_loop_counts_and_a_metric_beside_it_does_not(tmp_path):
    def score(output, target):
        F.mse_loss(output, target)
        F.l1_loss(output, target)
        F.mse_loss(output, target, reduction="sum")

    series = evaluated(tmp_path / "runs", score)
    assert len(series["val_loss"]) == 2
    assert series["val_loss"][0] == pytest.approx(series["loss"][1])


def test_a_loss_with_a_graph_is_no_validation(tmp_path):
    assert "val_loss" not in evaluated(tmp_path / "runs", F.mse_loss, grad=True)


def test_other_loggers_are_read_by_their_arguments():
    assert read("wandb", None, ({"loss": 0.5, "note": "text"},), {"step": 3}) == ({"loss": 0.5, "note": "text"}, 3)
    assert read("lightning", None, ("val_loss", torch.tensor(2.0)), {}) == ({"val_loss": 2.0}, None)
    assert scalar(torch.ones(2)) is None
    assert scalar("0.5") is None


def test_at_rest_a_number_is_taken_now_and_then_and_the_loss_of_a_validation_each_time(tmp_path):
    from torch.utils.tensorboard import SummaryWriter

    steps = 4 * RARELY
    with under_watch(tmp_path / "runs", cost=0.0, inspect_steps=0) as session:
        model = nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        writer = SummaryWriter(str(tmp_path / "tb"))
        for step in range(FIRST_STEPS + steps):
            if step == FIRST_STEPS:
                session.state.own_s += 100.0
            optimizer.zero_grad()
            loss = model(torch.ones(2, 3)).square().mean()
            loss.backward()
            optimizer.step()
            writer.add_scalar("train/loss", 1.0, step)
            writer.add_scalar("val_loss", 1.0, step)
        writer.close()
        assert session.events.rests()
    told = [e.fact for e in events(tmp_path / "runs") if isinstance(e, Observed) and e.word == "logged/Logged"]
    late = [f["name"] for f in told if f["at"] > FIRST_STEPS + 2]
    assert 1 <= late.count("train/loss") <= 4
    assert late.count("val_loss") > RARELY / 4  # what does not change is written down more rarely
