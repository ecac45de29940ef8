"""What a loaded optimizer holds."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.observers.scheduler.loaded_rate import loaded_rate


def stepped(kind, **options):
    model = nn.Linear(3, 1)
    optimizer = kind(model.parameters(), lr=0.02, **options)
    for _ in range(5):
        model(torch.ones(2, 3)).sum().backward()
        optimizer.step()
    return optimizer


def test_the_rate_and_the_updates_of_an_adam():
    load = loaded_rate(stepped(torch.optim.Adam), None)
    assert (load.rate, load.updates) == (0.02, 5)


def test_a_state_without_a_count_has_the_rate_alone():
    load = loaded_rate(stepped(torch.optim.SGD, momentum=0.9), None)
    assert (load.rate, load.updates) == (0.02, 0)


def test_an_optimizer_without_a_state_says_nothing():
    assert loaded_rate(torch.optim.Adam(nn.Linear(3, 1).parameters()), None) is None
