"""A tape that rests: the same training, every bad loss still an alarm, its batch given again in mode dev, and what
follows recorded whole."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.errors import StoppedByTracer
from debugtracer.recorder.governor import FIRST_STEPS
from debugtracer.recorder.tape.step_tape import RESTED
from debugtracer.session import Session
from tests.watching import incidents, only, under_watch

STEPS = FIRST_STEPS + 40
BAD = FIRST_STEPS + 20


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.1), nn.Linear(8, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(torch.log(x))


def train(
    bad: tuple[int, ...] = (),
    session: Session | None = None,
    after: Callable[[torch.Tensor, int], torch.Tensor] = lambda loss, step: loss,
) -> tuple[list[torch.Tensor], list[bool]]:
    """A loop whose tape rests from the first step that counts; the losses, and whether each step was recorded."""
    torch.manual_seed(2)
    x = torch.rand(STEPS * 8, 4) + 0.5
    for step in bad:
        x[step * 8 + 3, 1] = -1.0
    model, taped = Net(), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for step, (inputs, targets) in enumerate(DataLoader(TensorDataset(x, torch.ones(len(x), 1)), batch_size=8)):
        if session is not None:
            if step == FIRST_STEPS:
                session.state.own_s += 100.0
            taped.append(not session.tape.current.rested)
        loss = after(F.mse_loss(model(inputs), targets), step)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses, taped


@pytest.mark.parametrize("mode", ["observe", "dev"])
def test_it_trains_the_same_and_records_nothing_but_what_is_inspected(tmp_path: Path, mode: str) -> None:
    bare, _ = train()
    with under_watch(tmp_path, mode, cost=0.0, inspect_steps=4) as session:
        losses, taped = train(session=session)
        rested = session.tape.current
        assert rested.rested
        assert [entry.kind for entry in rested.entries] in ([], ["module"])
    assert all(map(torch.equal, losses, bare))
    assert all(taped[: FIRST_STEPS + 1])
    assert not any(taped[FIRST_STEPS + 2 : STEPS]), "root calls rest too: one look of a hundred that are due"
    assert incidents(tmp_path) == []


@pytest.mark.parametrize("mode", ["observe", "dev"])
def test_a_fault_inside_the_model_is_found_by_its_forward_alone(tmp_path: Path, mode: str) -> None:
    stops = pytest.raises(StoppedByTracer) if mode == "dev" else contextlib.nullcontext()
    with under_watch(tmp_path, mode, cost=0.0) as session, stops:
        train((BAD,), session)
    incident = only(tmp_path)
    assert incident.facts.replay.mechanism == "forward-only"
    assert any(RESTED in why for why in incident.facts.replay.refused)
    assert incident.verdict is not None
    assert incident.verdict.step == BAD
    assert incident.verdict.op == "aten::log"
    assert incident.verdict.sample_index == (BAD * 8 + 3,)


def outside(loss: torch.Tensor, step: int) -> torch.Tensor:
    """A loss that becomes bad outside the model."""
    return torch.log(loss.detach() - loss + (-1.0 if step == BAD else 1.0)) + loss


def kept_by_no_graph(loss: torch.Tensor, step: int) -> torch.Tensor:
    """The same by a function whose graph keeps its result alone."""
    return torch.sqrt(loss.detach() - loss + (-1.0 if step == BAD else 1.0)) + loss


@pytest.mark.parametrize(("after", "mechanism"), [(kept_by_no_graph, "re-yield"), (outside, "graph")])
def test_a_fault_outside_the_model_gets_its_batch_again_in_mode_dev(tmp_path: Path, after, mechanism) -> None:
    with under_watch(tmp_path, "dev", cost=0.0) as session, pytest.raises(StoppedByTracer):
        train((), session, after)
    incident = only(tmp_path)
    assert incident.facts.replay.mechanism == mechanism  # the batch alone does not show it: what the graph said stands
    assert incident.verdict is not None
    assert incident.verdict.step == BAD


def test_where_it_cannot_be_executed_again_the_reason_is_said_and_the_next_is_recorded(tmp_path: Path) -> None:
    with under_watch(tmp_path, "observe", cost=0.0) as session:
        _, taped = train((), session, outside)
    incident = only(tmp_path)
    assert incident.verdict is not None
    assert incident.verdict.step == BAD
    assert any(RESTED in why for why in incident.facts.replay.refused)
    assert not taped[BAD]
    assert all(taped[BAD + 2 :]), "what follows an incident is recorded whole"
