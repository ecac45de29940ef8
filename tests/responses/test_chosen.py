"""Responses that are taken for a cause alone for which they were chosen: each beside what comes without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from debugtracer.errors import StoppedByTracer
from debugtracer.responses.clipped_gradient import CLIPPED
from tests.responses.loops import Loop, actions, adam, given, sgd
from tests.watching import incidents, same_bits, under_watch

BAD = 40


def exploding(after: int) -> list[Tensor]:
    """Batches of which one is bad, and those since lie far outside."""
    batches = given(BAD + 1 + after, (BAD,))
    return [batch * 1e4 if at > BAD else batch for at, batch in enumerate(batches)]


def go(out: Path, batches: list[Tensor], respond: str = "", make: Any = sgd) -> Loop:
    with under_watch(out, "prod", respond=respond, cost=1.0):
        loop = Loop(make)
        loop.go(batches)
    return loop


def largest(loop: Loop) -> float:
    return max(float(p.detach().abs().max()) for p in loop.model.parameters())


def test_gradients_that_explode_are_clipped_to_the_usual_norm(tmp_path: Path) -> None:
    cause = "data-nonfinite"
    clipped = go(tmp_path / "a", exploding(3), f"{cause}=clip-harder")
    assert incidents(tmp_path / "a")[0].verdict.cause == cause
    (done,) = actions(tmp_path / "a")
    assert done.action == "clip-harder" and f"the usual one, for {CLIPPED} steps" in done.reason
    bare = go(tmp_path / "b", exploding(3))
    assert largest(clipped) < 5 and largest(bare) > 100


def test_a_rate_that_is_lowered_halves_the_next_update(tmp_path: Path) -> None:
    lowered = go(tmp_path / "a", given(BAD + 2, (BAD,)), "data-nonfinite=lower-lr")
    assert [a.action for a in actions(tmp_path / "a")] == ["lower-lr"]
    twin = Loop(sgd)
    batches = given(BAD + 2, (BAD,))
    twin.go(batches[:BAD])
    twin.optimizer.param_groups[0]["lr"] *= 0.5
    twin.go(batches[BAD + 1 :])
    twin.optimizer.param_groups[0]["lr"] *= 2
    assert all(same_bits(a, b) for a, b in zip(lowered.state(), twin.state(), strict=True))
    assert lowered.optimizer.param_groups[0]["lr"] == twin.optimizer.param_groups[0]["lr"]


def test_one_that_did_not_help_is_undone_and_the_next_is_taken(tmp_path: Path) -> None:
    with pytest.raises(StoppedByTracer):
        go(tmp_path, given(BAD + 8, (BAD, BAD + 4)), "data-nonfinite=lower-lr")
    assert [a.action for a in actions(tmp_path)] == ["lower-lr", "undo", "stop"]


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


def test_what_is_noted_alone_is_left_to_the_program(tmp_path: Path) -> None:
    loop = go(tmp_path, given(BAD + 1, (BAD,)), "data-nonfinite=note")
    done = actions(tmp_path)
    assert {a.action for a in done} == {"note"} and all("as you have chosen" in a.reason for a in done)
    assert bool(next(loop.model.parameters()).isnan().any())


def test_an_optimizer_that_holds_more_than_moments_keeps_them(tmp_path: Path) -> None:
    with under_watch(tmp_path, "prod") as session:
        loop = Loop(lambda parameters: torch.optim.Rprop(parameters, lr=0.01))
        loop.go(given(2, ()))
        assert session.responder is not None
        training = session.responder.training
        assert "Rprop would not make prev, step_size anew" in training.moments_stay(loop.optimizer)
        assert training.usual_gradient() is None
