"""What changes the update: learning rate, clipping, moments."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from tests.interventions.building import data, trial


def poisoned(value: float = -1.0, lr: float = 0.01) -> None:
    """A second moment that is negative before step 3: the update is NaN."""
    torch.manual_seed(2)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for number, x in enumerate(data(5, bad=None)):
        if number == 3:
            optimizer.state[model.weight]["exp_avg_sq"].fill_(value)
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()


def too_fast() -> None:
    """A learning rate whose product with the gradient passes float32 in step 2."""
    torch.manual_seed(2)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for number, x in enumerate(data(4, bad=None)):
        optimizer.param_groups[0]["lr"] = 1e-3 if number < 2 else 3e38
        optimizer.zero_grad()
        (model(x).mean() * 10).backward()
        optimizer.step()


def test_broken_moments_are_healed_by_fresh_ones_and_not_by_a_lower_rate(monkeypatch, tmp_path):
    fresh = trial(monkeypatch, tmp_path / "1", poisoned, "fresh-moments")
    assert (fresh.finite, fresh.change) == (True, "moments and step counts of the optimizer set to zero")
    lower = trial(monkeypatch, tmp_path / "2", poisoned, "lower-lr")
    assert (lower.finite, lower.refused, lower.change) == (False, "", "the learning rate divided by 10")


def test_an_update_too_large_is_healed_by_a_lower_rate_and_by_clipping(monkeypatch, tmp_path):
    lower = trial(monkeypatch, tmp_path / "1", too_fast, "lower-lr", 100.0)
    assert (lower.finite_update, lower.change) == (True, "the learning rate divided by 100")
    clipped = trial(monkeypatch, tmp_path / "2", too_fast, "clipped-gradient", 1e-3)
    assert (clipped.finite_update, clipped.change) == (True, "all gradients clipped to L2 norm 0.001")


def test_clipping_that_clips_nothing_is_refused(monkeypatch, tmp_path):
    assert trial(monkeypatch, tmp_path, too_fast, "clipped-gradient", 1e6).refused == "the gradients are within L2 norm 1e+06 as they are"


def test_sgd_without_momentum_has_no_memory(monkeypatch, tmp_path):
    assert trial(monkeypatch, tmp_path, too_fast, "fresh-moments").refused == "the optimizer keeps no state"


@pytest.mark.parametrize("slug", ["lower-lr", "clipped-gradient", "fresh-moments", "other-optimizer"])
def test_an_output_alone_has_no_update(monkeypatch, tmp_path, slug):
    def loop() -> None:
        model = nn.Linear(4, 2)
        optimizer = torch.optim.Adam(model.parameters())
        model(data()[0]).mean().backward()
        optimizer.step()
        with torch.no_grad():
            model(torch.full((3, 4), float("nan")))

    assert trial(monkeypatch, tmp_path, loop, slug).refused == "the update is not replayed"
