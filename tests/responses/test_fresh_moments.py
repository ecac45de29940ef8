"""Spoilt moments are made anew where that was chosen, and no update is lost."""

from __future__ import annotations

from pathlib import Path

import torch

from tests.responses.chosen import BAD
from tests.responses.loops import Loop, actions, adam, given
from tests.watching import incidents, under_watch


def spoilt(out: Path, respond: str) -> Loop:
    """A loop in which a second moment becomes NaN, as a bad cell of memory would."""
    with under_watch(out, "prod", respond=respond, cost=1.0):
        loop = Loop(adam)
        batches = given(BAD + 20, ())
        loop.go(batches[:BAD])
        next(iter(loop.optimizer.state.values()))["exp_avg_sq"].fill_(float("nan"))
        loop.go(batches[BAD:])
    return loop


def test_spoilt_moments_are_forgotten(tmp_path: Path) -> None:
    go_on = spoilt(tmp_path / "a", "")
    cause = incidents(tmp_path / "a")[0].verdict.cause
    fresh = spoilt(tmp_path / "b", f"{cause}=fresh-moments")
    assert [a.action for a in actions(tmp_path / "b")] == ["fresh-moments"]
    assert "updates are lost" in actions(tmp_path / "a")[0].reason, "the copy holds the bad moments too"
    assert "the update was taken back; the optimizer begins" in actions(tmp_path / "b")[0].reason
    assert all(bool(torch.isfinite(t).all()) for t in (*fresh.state(), *go_on.state()))
    assert max(float(s["step"]) for s in fresh.optimizer.state.values()) == 19


def test_an_optimizer_that_holds_more_than_moments_keeps_them(tmp_path: Path) -> None:
    with under_watch(tmp_path, "prod") as session:
        loop = Loop(lambda parameters: torch.optim.Rprop(parameters, lr=0.01))
        loop.go(given(2, ()))
        assert session.responder is not None
        training = session.responder.training
        assert "Rprop would not make prev, step_size anew" in training.moments_stay(loop.optimizer)
        assert training.usual_gradient() is None
