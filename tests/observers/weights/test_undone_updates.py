"""Updates and what becomes of them, in real loops."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.undone_update import UndoneUpdate
from tests.observers.loops import data, mse, net, plain
from tests.observers.observing import observed


def reset(into: nn.Module, state: dict[str, Any]) -> None:
    into.load_state_dict(state)


def taken_back(also_optimizer: bool = False) -> None:
    model = net()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    start, fresh = copy.deepcopy(model.state_dict()), copy.deepcopy(optimizer.state_dict())
    for x, y in data(6):
        optimizer.zero_grad()
        mse(model(x), y).backward()
        optimizer.step()
        reset(model, start)
        if also_optimizer:
            optimizer.load_state_dict(fresh)


def test_a_state_that_is_loaded_after_each_update_is_seen_with_its_line(tmp_path: Path):
    facts = observed(tmp_path / "runs", taken_back, UndoneUpdate)
    assert [(f.number, f.moved, f.back, f.reset) for f in facts] == [(n, 4, 4, False) for n in range(3)]
    assert facts[0].params[0] == "0.weight"
    assert facts[0].loaded is not None and facts[0].loads is not None
    assert facts[0].loaded.code == "reset(model, start)"
    assert facts[0].loads.code == "into.load_state_dict(state)"


def test_an_optimizer_that_is_reset_too_says_so(tmp_path: Path):
    assert {f.reset for f in observed(tmp_path / "runs", lambda: taken_back(True), UndoneUpdate)} == {True}


def test_updates_that_stay_have_moved_and_are_not_back(tmp_path: Path):
    facts = observed(tmp_path / "runs", lambda: plain(6, torch.optim.Adam), UndoneUpdate)
    assert {(f.moved, f.back) for f in facts} == {(4, 0)}


def test_a_swap_for_evaluation_is_no_undoing(tmp_path: Path):
    def loop() -> None:
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        other = copy.deepcopy(model.state_dict())
        for x, y in data(6):
            optimizer.zero_grad()
            mse(model(x), y).backward()
            optimizer.step()
            kept = copy.deepcopy(model.state_dict())
            model.load_state_dict(other)
            model.load_state_dict(kept)

    assert {f.back for f in observed(tmp_path / "runs", loop, UndoneUpdate)} == {0}


@pytest.mark.parametrize("way", ["data", "copy", "under no_grad"])
def test_the_first_line_that_puts_another_value_into_a_weight_after_the_update_is_named(tmp_path: Path, way: str):
    def loop() -> None:
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for x, y in data(6):
            kept = [p.detach().clone() for p in model.parameters()]
            optimizer.zero_grad()
            mse(model(x), y).backward()
            optimizer.step()
            for p, old in zip(model.parameters(), kept, strict=True):
                with torch.no_grad():
                    p.add_(0.0)  # goes on from the update
                if way == "data":
                    p.data = old
                elif way == "copy":
                    p.data.copy_(old)
                else:
                    with torch.no_grad():
                        p[:] = old

    facts = observed(tmp_path / "runs", loop, UndoneUpdate)
    expected = {"data": "p.data = old", "copy": "p.data.copy_(old)", "under no_grad": "p[:] = old"}[way]
    assert [f.back for f in facts] == [4] * 3
    assert [f.written and f.written.code for f in facts][:2] == [expected] * 2


def test_a_write_into_another_tensor_is_not_named(tmp_path: Path):
    def loop() -> None:
        model, average = net(), net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for x, y in data(6):
            optimizer.zero_grad()
            mse(model(x), y).backward()
            optimizer.step()
            for p, one in zip(model.parameters(), average.parameters(), strict=True):
                one.data.copy_(p.data)

    assert {(f.back, f.written) for f in observed(tmp_path / "runs", loop, UndoneUpdate)} == {(0, None)}
