"""The share of channels whose running statistics are not those of a batch."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.observers.weights.fitting_statistics import note, share_unfit
from tests.observers.runs import a_run


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 2)).eval()


def test_half_of_the_channels_are_off():
    model, x = net(), torch.randn(200, 4) + torch.tensor([0.0, 0.0, 5.0, 5.0])
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert share_unfit(a_run(), model, (x,), {}) == 0.5
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_what_is_no_plain_tensor_says_nothing():
    assert share_unfit(a_run(), net(), ([torch.randn(200, 4)],), {}) is None


def test_few_values_of_a_channel_say_nothing():
    held, given = [], []
    norm = net()[0]
    note(held, given, norm, (torch.randn(8, 4),))
    note(held, given, norm, ())
    assert (held, given) == ([], [])
    note(held, given, norm, (torch.randn(8, 4, 6),))
    assert len(held) == len(given) == 1
