"""Fresh weights in the module of birth."""

from __future__ import annotations

import itertools

import torch
from torch import nn

from tests.interventions.building import Chain, data, fit, trial
from tests.interventions.parts import HandNorm


class Logged(nn.Linear):
    """Takes the log of its largest weight."""

    def forward(self, x):
        return super().forward(x) * self.weight.max().log()


def negative(model: Chain, batches: list[torch.Tensor]) -> None:
    """The second update leaves weights whose log is NaN."""
    optimizer, updates = torch.optim.SGD(model.parameters(), lr=1e-4), itertools.count()
    optimizer.register_step_post_hook(lambda *_: model.part.weight.data.fill_(-1.0) if next(updates) == 1 else None)
    fit(model, batches, optimizer=optimizer)


def test_weights_that_have_gone_bad_are_the_fault_when_fresh_ones_heal(monkeypatch, tmp_path):
    model = Chain(Logged(4, 4))
    score = trial(monkeypatch, tmp_path, lambda: negative(model, data(3, bad=None)), "reinit-layer")
    assert (score.finite, score.change) == (True, "part (Logged) with fresh initial weights")
    assert bool(((model.part.weight + 1.0).abs() < 1e-3).all() | model.part.weight.isnan().all())


def test_a_module_that_does_not_know_how_to_begin_is_refused(monkeypatch, tmp_path):
    assert (
        trial(monkeypatch, tmp_path, lambda: fit(Chain(HandNorm()), data()), "reinit-layer").refused
        == "HandNorm has no reset_parameters"
    )
