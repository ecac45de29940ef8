"""A larger epsilon of modules, of a line, of the optimizer."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tests.interventions.building import Chain, data, fit, trial
from tests.interventions.parts import Odd


class SmallEps(nn.Module):
    """An epsilon that float32 holds and that is lost beside a variance of float16."""

    def forward(self, x: Tensor) -> Tensor:
        x = x.half()
        size = x.pow(2).mean(-1, keepdim=True)
        return (x / (size + 1e-9)).float()


def test_an_epsilon_that_vanishes_in_half_precision_is_raised_in_the_function_of_the_line(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(SmallEps()), data()), "larger-eps")
    assert score.finite
    assert score.change.startswith("eps 1e-09 at test_larger_eps.py:")
    assert score.change.endswith(" raised to 0.0001")


def test_modules_keep_their_epsilon_afterwards(monkeypatch, tmp_path):
    norm = nn.LayerNorm(4, eps=0.0)
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(norm), data()), "larger-eps")
    assert (score.finite, score.change) == (True, "eps of 1 normalisation module raised to 0.0001")
    assert norm.eps == 0.0


def test_the_optimizer_of_a_bad_update(monkeypatch, tmp_path):
    def loop() -> None:
        torch.manual_seed(0)
        model = nn.Linear(4, 2)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1, eps=0.0)
        for x in data(4, bad=None):
            optimizer.zero_grad()
            (model(x) * 0.0).mean().backward()
            optimizer.step()

    score = trial(monkeypatch, tmp_path, loop, "larger-eps")
    assert (score.finite, score.change) == (True, "eps of Adam raised to 0.0001")


def test_without_an_epsilon_it_is_refused(monkeypatch, tmp_path):
    score = trial(monkeypatch, tmp_path, lambda: fit(Chain(Odd()), data()), "larger-eps")
    assert score.refused == "neither the modules of the step nor Odd.forward have an eps below 0.0001"
