"""Writes in place, and which of them a backward died of."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.session import active
from debugtracer.trace.events import Found
from tests.watching import events, under_watch


class Gated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.tanh(self.body(x))
        hidden += 1.0
        return hidden


def finding(out):
    (found,) = [
        e.finding
        for e in events(out)
        if isinstance(e, Found) and e.finding.check.endswith(("inplace-modified", "inplace_modified"))
    ]
    return found


def test_the_line_inside_a_module(tmp_path):
    with under_watch(tmp_path / "runs"):
        model = Gated()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer.zero_grad()
        with pytest.raises(RuntimeError, match="inplace operation") as raised:
            model(torch.randn(2, 3)).sum().backward()
        active().crashed(raised.value)
    assert finding(tmp_path / "runs").place.frame.code == "hidden += 1.0"


def test_an_optimizer_that_writes_between_forward_and_backward(tmp_path):
    with under_watch(tmp_path / "runs"):
        model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loss = model(torch.randn(5, 3)).sum()
        loss.backward(retain_graph=True)
        optimizer.step()
        with pytest.raises(RuntimeError, match="inplace operation") as raised:
            loss.backward()
        active().crashed(raised.value)
    found = finding(tmp_path / "runs")
    assert found.place.param == "1.weight"
    assert found.place.frame.code == "optimizer.step()"


def test_a_view_of_a_parameter_written_without_grad(tmp_path):
    with under_watch(tmp_path / "runs"):
        model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer.zero_grad()
        loss = model(torch.randn(5, 3)).sum()
        with torch.no_grad():
            model[1].weight[0].clamp_(-0.01, 0.01)
        with pytest.raises(RuntimeError, match="inplace operation") as raised:
            loss.backward()
        active().crashed(raised.value)
    found = finding(tmp_path / "runs")
    assert (found.place.param, found.exact) == ("1.weight", True)
    assert found.place.frame.code == "model[1].weight[0].clamp_(-0.01, 0.01)"


def test_a_state_carried_over_a_step_is_told_from_a_step_before_backward(tmp_path):
    with under_watch(tmp_path / "runs"):
        model = nn.GRUCell(3, 4)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        state = torch.zeros(5, 4)
        with pytest.raises(RuntimeError, match="inplace operation") as raised:
            for _ in range(3):
                state = model(torch.randn(5, 3), state)
                optimizer.zero_grad()
                state.sum().backward(retain_graph=True)
                optimizer.step()
        active().crashed(raised.value)
    found = finding(tmp_path / "runs")
    assert "A forward ran since" in found.message
    assert not found.exact


def test_a_write_in_inference_mode_is_no_failure(tmp_path):
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(tmp_path):
        for _ in range(3):
            with torch.inference_mode():
                total = torch.zeros(2)
                total.add_(model(torch.ones(2, 3)).squeeze(1))
            optimizer.zero_grad()
            model(torch.ones(2, 3)).mean().backward()
            optimizer.step()
    found = [event for event in events(tmp_path) if isinstance(event, Found)]
    assert [one.finding.check for one in found if one.finding.layer == "model"] == []
