"""The same step with a smaller learning rate."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.interventions.lower_lr import not_finite
from tests.interventions.building import data, poisoned, too_fast, trial


def test_an_update_too_large_is_healed_by_a_rate_that_is_low_enough(monkeypatch, tmp_path):
    lower = trial(monkeypatch, tmp_path, too_fast, "lower-lr", 100.0)
    assert (lower.finite_update, lower.change) == (True, "the learning rate divided by 100")


def test_broken_moments_are_not_healed_by_it(monkeypatch, tmp_path):
    lower = trial(monkeypatch, tmp_path, poisoned, "lower-lr")
    assert (lower.finite, lower.refused, lower.change) == (False, "", "the learning rate divided by 10")


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


def test_a_part_of_a_rate_that_is_no_number_is_none_either(monkeypatch, tmp_path):
    def loop() -> None:
        model = nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(3):
            optimizer.param_groups[0]["lr"] = float("nan") if step == 2 else 0.1
            model(data()[0]).mean().backward()
            optimizer.step()

    assert trial(monkeypatch, tmp_path, loop, "lower-lr").refused == "the learning rate is no finite number"
    assert [not_finite(rate) for rate in (0.1, 0, float("inf"), (-1) ** 0.5, torch.tensor(0.1))] == [
        False, False, True, True, False,
    ]  # fmt: skip
