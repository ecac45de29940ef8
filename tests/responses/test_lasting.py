"""Faults that stay end with a stop that says why, after a few responses and not after a thousand."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.errors import StoppedByTracer
from debugtracer.responses.budget import LEAST, REPEATS
from debugtracer.trace.events import Acted, Found
from tests.responses.loops import Loop, actions, given, sgd
from tests.watching import events, incidents, under_watch


def stopped(out: Path) -> list[Acted]:
    """What was done; the last is a stop, and a verdict was given."""
    done = actions(out)
    assert done[-1].action == "stop"
    assert incidents(out)
    return done


def test_every_second_batch_is_bad(tmp_path: Path) -> None:
    with under_watch(tmp_path, "prod"), pytest.raises(StoppedByTracer):
        Loop().go(given(200, tuple(range(1, 200, 2))))
    done = stopped(tmp_path)
    assert len(done) == LEAST + 1
    assert f"{LEAST} of the last 42 updates were left out already" in done[-1].reason
    found = {event.finding.check for event in events(tmp_path) if isinstance(event, Found)}
    assert "rollback/skip-budget" not in found, "what we leave out is no skip of the program's"


def test_all_labels_are_ignored(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = nn.CrossEntropyLoss(ignore_index=-1)
    with under_watch(tmp_path, "val"), pytest.raises(StoppedByTracer):
        for x in given(10, ()):
            optimizer.zero_grad()
            loss(model(x), torch.full((6,), -1)).backward()
            optimizer.step()
    assert [a.action for a in stopped(tmp_path)] == ["skip-update", "skip-update", "stop"]


def test_moments_go_bad_again_and_again(tmp_path: Path) -> None:
    with under_watch(tmp_path, "prod"), pytest.raises(StoppedByTracer):
        loop = Loop()
        for number, x in enumerate(given(60, ())):
            if number > 20 and number % 6 == 0:
                next(iter(loop.optimizer.state.values()))["exp_avg"].fill_(float("nan"))
            loop.go([x])
    done = stopped(tmp_path)
    # one roll-back where no newer state was kept in between; two where the machine left time for one
    assert [a.action for a in done] in (["roll-back", "stop"], ["roll-back"] * REPEATS + ["stop"])
    assert "went bad again" in done[-1].reason
    assert all(bool(torch.isfinite(t).all()) for t in loop.state()), "the last good state was put back first"
    assert "its last good state is" in done[-1].reason


def test_a_learning_rate_beyond_the_range_spoils_every_update(tmp_path: Path) -> None:
    with under_watch(tmp_path, "prod"), pytest.raises(StoppedByTracer):
        loop = Loop(sgd)
        loop.go(given(10, ()))
        loop.optimizer.param_groups[0]["lr"] = float("inf")
        loop.go(given(10, ()))
    assert [a.action for a in stopped(tmp_path)] == ["roll-back"] * REPEATS + ["stop"]
    assert all(bool(torch.isfinite(p).all()) for p in loop.model.parameters())


def test_val_never_goes_back(tmp_path: Path) -> None:
    with under_watch(tmp_path, "val"), pytest.raises(StoppedByTracer):
        loop = Loop()
        loop.go(given(10, ()))
        next(iter(loop.optimizer.state.values()))["exp_avg"].fill_(float("nan"))
        loop.go(given(10, ()))
    assert [a.action for a in stopped(tmp_path)] == ["stop"]


def test_a_rate_that_is_too_high_from_the_start_is_lowered_once_and_the_lowering_undone(tmp_path: Path) -> None:
    """Older weights heal the bad step, so the state goes back; it goes bad again from there, and no third time."""
    torch.manual_seed(4)
    model = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.5)
    with under_watch(tmp_path, "prod", cost=1.0) as session, pytest.raises(StoppedByTracer):
        session.ring.judge = lambda cost_s, step_s: None  # type: ignore[method-assign]  # whatever else the machine does
        for _ in range(100):
            x = torch.randn(32, 10)
            optimizer.zero_grad()
            (model(x) - x.sum(1, keepdim=True)).square().mean().backward()
            optimizer.step()
    done = stopped(tmp_path)
    assert [a.action for a in done][:2] == ["roll-back", "undo"]
    assert "the learning rate is the program's own again: a lower one has not helped for" in done[1].reason
    assert [a.action for a in done].count("roll-back") == 1
    assert done[-1].step < 30
    assert optimizer.param_groups[0]["lr"] == 1.5 and not optimizer._optimizer_step_pre_hooks


def test_data_that_are_bad_from_the_start_end_before_a_pass_is_over(tmp_path: Path) -> None:
    rows = torch.utils.data.TensorDataset(torch.full((160, 4), float("nan")), torch.zeros(160, 1))
    loop = Loop()
    seen = 0
    with under_watch(tmp_path, "prod"), pytest.raises(StoppedByTracer):
        for x, _ in torch.utils.data.DataLoader(rows, batch_size=8):
            seen += 1
            loop.go([x])
    assert len(stopped(tmp_path)) <= 6 and seen == 3
