"""Elements of real gradients beside Adam's second moment."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.observers.optimizer.element_spikes import compared
from debugtracer.trace.facts.element_spikes import ElementSpikes
from tests.observers.loops import data, mse, net, plain
from tests.observers.observing import observed


def jump(at: int, steps: int, factor: float = 1000.0, kind: type = torch.optim.Adam) -> None:
    model = net()
    optimizer = kind(model.parameters(), lr=1e-4)
    for step, (x, y) in enumerate(data(steps)):
        optimizer.zero_grad()
        (mse(model(x), y) * (factor if step == at else 1.0)).backward()
        optimizer.step()


@pytest.mark.parametrize("at", [100, 67])
def test_a_jump_is_seen_on_inspected_steps_and_where_the_loss_stands_out(tmp_path: Path, at: int):
    (fact,) = observed(tmp_path / "runs", lambda: jump(at, 110), ElementSpikes)
    assert (fact.ref.step, fact.optimizer, fact.looked, fact.age, fact.standout) == (at, "Adam", 4, at, True)
    row = next(p for p in fact.params if p.name == "0.weight")
    assert row.numel == 32
    assert row.spiked > row.sampled / 2
    assert row.most > 5000


def test_ordinary_gradients_and_other_optimizers_say_nothing(tmp_path: Path):
    assert observed(tmp_path / "a", lambda: plain(110, torch.optim.Adam), ElementSpikes) == []
    assert observed(tmp_path / "b", lambda: jump(67, 80, 30.0), ElementSpikes) == []
    assert observed(tmp_path / "c", lambda: jump(67, 80, kind=torch.optim.SGD), ElementSpikes) == []


def test_rows_of_a_table_are_left_out(tmp_path: Path):
    def loop() -> None:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Embedding(50, 4), nn.Flatten(), nn.Linear(8, 1))
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
        for step in range(60):
            optimizer.zero_grad()
            loss = mse(model(torch.randint(0, 50, (16, 2))), torch.ones(16, 1))
            (loss * (1000.0 if step == 50 else 1.0)).backward()
            optimizer.step()

    (fact,) = observed(tmp_path / "runs", loop, ElementSpikes)
    assert fact.looked == 2
    assert all(p.name.startswith("2.") for p in fact.params)


def test_elements_seen_too_rarely_do_not_count():
    p = nn.Parameter(torch.ones(10))
    optimizer = torch.optim.Adam([p], betas=(0.9, 0.99))
    for _ in range(3):
        p.grad = torch.ones(10)
        optimizer.step()
    optimizer.state[p]["exp_avg_sq"][7] *= 1e-6
    p.grad = torch.full((10,), 2.0)
    with torch.no_grad():
        assert compared([p], optimizer) == [(p, 9, 0, pytest.approx(4.0, rel=1e-5), 3)]
        p.grad[2] = 80.0
        assert compared([p], optimizer) == [(p, 9, 1, pytest.approx(6400.0, rel=1e-5), 3)]
