"""Copies of models that are given their targets."""

from __future__ import annotations

import random

import pytest
import torch
from torch import nn

from debugtracer.observers.model.shadow_model import ShadowModel
from debugtracer.observers.model.target_trials import RUNS, draws, is_given, targets_used

X, Y = torch.randn(6, 3), torch.randn(6, 8)
CPU = torch.device("cpu")


class Decoder(nn.Module):
    """Goes on from the target in a share of the steps; `at_once` decides for all steps of a call."""

    def __init__(self, share, at_once=False, time_first=False):
        super().__init__()
        self.first, self.next = nn.Linear(3, 1), nn.Linear(1, 1)
        self.share, self.at_once, self.time_first = share, at_once, time_first

    def forward(self, x, y):
        said, y = [self.first(x)], y.t() if self.time_first else y
        chosen = random.random() < self.share
        for t in range(y.shape[1] - 1):
            chosen = chosen if self.at_once else random.random() < self.share
            said.append(self.next(y[:, t : t + 1] if chosen else said[-1]))
        return torch.cat(said, 1)


class Noisy(Decoder):
    def forward(self, x, y):
        return super().forward(x, y) + torch.randn(1)


def used(model, y=Y):
    return targets_used(ShadowModel(model, ()), (X, y), {}, y)


@pytest.mark.parametrize(("at_once", "time_first"), [(False, False), (True, False), (False, True)])
def test_chance_decides_in_some_of_the_runs(at_once, time_first):
    model = Decoder(0.5, at_once, time_first)
    assert 0 < used(model, Y.t().contiguous() if time_first else Y) < RUNS


def test_targets_that_always_or_never_count():
    assert used(Decoder(1.0)) == RUNS
    assert used(Decoder(0.0)) == 0
    assert used(Noisy(1.0)) == RUNS


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(11, 8)

    def forward(self, x, y):
        return self.mix(torch.cat([x, y], 1))


def test_a_model_that_gives_back_what_it_is_given_decodes_nothing():
    assert used(Autoencoder()) == 0


def test_a_draw_is_seen_by_the_generators():
    assert draws(ShadowModel(Decoder(0.5), ()), (X, Y), {}, CPU)
    assert not draws(ShadowModel(nn.Linear(3, 1), ()), (X,), {}, CPU)


def test_an_argument_that_holds_the_targets():
    ids = torch.arange(24).reshape(4, 6)
    assert is_given(ids, ids.flatten()) and is_given(ids, ids[:, 1:].flatten()) and is_given(ids, ids[1:].flatten())
    assert is_given(Y, Y.flatten())
    assert not is_given(ids, ids[:, 2:].flatten()) and not is_given(ids.float(), ids) and not is_given(3, ids)
