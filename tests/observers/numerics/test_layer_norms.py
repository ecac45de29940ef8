"""Norms of each layer over time: the gate's own numbers, all steps at first, ever fewer later, all again around an
incident."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.observers.numerics import layer_norms
from debugtracer.trace.store.norm_table import NormTable
from debugtracer.trace.store.reader import open_trace
from tests.watching import under_watch


def norms_of(out: Path) -> NormTable:
    trace = open_trace(out)
    found = trace.layer_norms(0)
    assert trace.problems == []
    return found


def train(out: Path, steps: int, bad: int = -1, clip: bool = False, **settings: object) -> nn.Module:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out, inspect_steps=0, own_share=1e9, cost=1e9, **settings):
        for step in range(steps):
            optimizer.zero_grad()
            x = torch.randn(3, 4) * (math.nan if step == bad else 1.0)
            model(x).pow(2).mean().backward()
            if clip:
                nn.utils.clip_grad_norm_(list(model.parameters()), 0.1)
            optimizer.step()
    return model


def test_every_step_of_a_short_run_has_the_norms_of_gradients_and_weights(tmp_path: Path) -> None:
    model = train(tmp_path, 20)
    table = norms_of(tmp_path)
    assert table.steps == list(range(20))
    steps, totals = open_trace(tmp_path).series("grad_l2", 0)
    for step, total in zip(steps, totals, strict=True):
        taken = table.at(step)
        rows = zip(taken.names["role"].texts(), taken.floats["l2"].tolist(), strict=True)
        assert math.hypot(*(l2 for role, l2 in rows if role == "gradient")) == pytest.approx(total, rel=1e-5)
    last = dict(
        zip(
            zip(*(table.at(19).names[n].texts() for n in ("role", "layer")), strict=True),
            table.at(19).floats["l2"].tolist(),
            strict=True,
        )
    )
    assert last["weight", "1.weight"] == pytest.approx(model[1].weight.norm().item(), rel=1e-5)


def test_a_long_run_keeps_ever_fewer_and_those_around_an_incident(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layer_norms, "DENSE", 16)
    monkeypatch.setattr(layer_norms, "LEAST", 16)
    train(tmp_path, 150, bad=120, mode="observe")
    steps = norms_of(tmp_path).steps
    assert set(range(16)) <= set(steps)
    assert 61 not in steps and 64 in steps  # every fourth by then
    assert set(range(120 - layer_norms.AROUND, 120)) <= set(steps)
    assert len(steps) < 120


def test_where_the_loop_clips_the_gradients_are_measured_now_and_then(tmp_path: Path) -> None:
    train(tmp_path, 20, clip=True)
    table = norms_of(tmp_path)
    roles = {step: set(table.at(step).names["role"].texts()) for step in table.steps}
    assert [step for step, known in roles.items() if "gradient" in known] == [0, 8, 16]
    assert all("weight" in known for known in roles.values())


def test_parameters_without_a_gradient_are_no_row_of_the_gradients(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
    model[0].requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(tmp_path):
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
    taken = norms_of(tmp_path).at(1)
    rows = list(zip(taken.names["role"].texts(), taken.names["layer"].texts(), strict=True))
    assert [layer for role, layer in rows if role == "gradient"] == ["1.weight", "1.bias"]
    assert len([layer for role, layer in rows if role == "weight"]) == 4
