"""A step while observers rest: the same training, its numbers published, a bad loss or gradient still an alarm with a
forward to execute again."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.errors import StoppedByTracer
from debugtracer.hooks.events.resting_events import RestingEvents
from debugtracer.recorder.governor import FIRST_STEPS
from debugtracer.recorder.tape.step_tape import MOST_DEFERRED, RESTED
from debugtracer.session import Session
from debugtracer.trace.store.reader import open_trace
from tests.watching import incidents, only, under_watch

STEPS = FIRST_STEPS + 40
BAD = FIRST_STEPS + 20
RESTS = {"cost": 0.0, "inspect_steps": 0}


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.2), nn.Linear(8, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(torch.sqrt(x))


def train(session: Session | None = None, bad: str = "", clips: bool = False) -> tuple[list[torch.Tensor], list[bool]]:
    """Losses, and which steps were begun at rest; `bad` is where the number of step BAD turns NaN."""
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses, rested = [], []
    for step in range(STEPS):
        x = torch.rand(8, 4) + 0.1
        if step == BAD and bad == "forward":
            x[3, 1] = -1.0
        if session is not None:
            if step == FIRST_STEPS:
                session.state.own_s += 100.0
            rested.append(session.events.target is session.events.resting)
        loss = F.mse_loss(model(x), torch.ones(8, 1))
        if step == BAD and bad == "gradient":
            next(model.parameters()).register_hook(lambda g: g * float("nan"))
        optimizer.zero_grad()
        loss.backward()
        if clips:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach())
    return losses, rested


@pytest.mark.parametrize("mode", ["observe", "dev"])
@pytest.mark.parametrize("clips", [False, True], ids=["plain", "clipped"])
def test_it_trains_the_same_and_every_number_is_published(tmp_path: Path, mode: str, clips: bool) -> None:
    bare, _ = train(clips=clips)
    with under_watch(tmp_path, mode, **RESTS) as session:
        losses, rested = train(session, clips=clips)
        assert session.state.step == session.state.iteration == STEPS
    assert all(map(torch.equal, losses, bare))
    assert rested == [False] * (FIRST_STEPS + 1) + [True] * (STEPS - FIRST_STEPS - 1)
    assert incidents(tmp_path) == []
    trace = open_trace(tmp_path)
    for name in ("loss", "grad_l2", "lr", "step_s"):
        steps, values = trace.series(name)
        assert list(steps) == list(range(STEPS)), name
        if name == "loss":
            assert torch.allclose(torch.tensor(list(values)), torch.stack(bare))


@pytest.mark.parametrize("mode", ["observe", "dev"])
def test_a_bad_forward_is_found_by_executing_it_again(tmp_path: Path, mode: str) -> None:
    stops = pytest.raises(StoppedByTracer) if mode == "dev" else contextlib.nullcontext()
    with under_watch(tmp_path, mode, **RESTS) as session, stops:
        train(session, "forward")
    incident = only(tmp_path)
    assert incident.verdict is not None
    assert (incident.verdict.step, incident.verdict.op) == (BAD, "aten::sqrt")
    assert incident.facts.replay.mechanism == "forward-only"
    assert any(RESTED in why for why in incident.facts.replay.refused)


def test_a_bad_gradient_is_an_alarm_before_its_update_and_what_follows_is_recorded(tmp_path: Path) -> None:
    with under_watch(tmp_path, "observe", **RESTS) as session:
        _, rested = train(session, "gradient")
        assert session.events.target is session.events.working
    incident = only(tmp_path)
    assert incident.verdict is not None
    assert incident.verdict.step == BAD
    assert not any(rested[BAD + 1 :])


def test_it_holds_no_more_than_the_root_calls_of_one_step(tmp_path: Path) -> None:
    with under_watch(tmp_path, "observe", **RESTS) as session:
        train(session)
        tape, model = session.tape, Net()
        with torch.enable_grad():
            for _ in range(2 * MOST_DEFERRED):
                tape.defer(model, (torch.ones(1, 4),), {}, None)
            assert len(tape.deferred) == MOST_DEFERRED
        tape.boundary(0, 0)
        assert tape.deferred == []


def test_it_has_a_body_for_every_event_that_can_come_while_all_rests() -> None:
    own = {"fetched", "entered", "left", "backward_ended", "clip", "scheduled"}
    assert own <= set(vars(RestingEvents))
