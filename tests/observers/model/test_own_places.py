"""Models of real sessions that are to give their input back."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.trace.facts.own_places import OwnPlaces
from tests.observers.model.test_place_order import Made, lamps
from tests.observers.told import facts, findings
from tests.watching import under_watch


def trained(model, loss=F.binary_cross_entropy_with_logits, noise=0.0):
    torch.manual_seed(0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        x = lamps()
        optimizer.zero_grad()
        value = loss(model(x + noise * torch.randn_like(x)), x)
        value.backward()
        optimizer.step()
        losses.append(value.item())
    return losses, torch.rand(()).item()


def seeded(make):
    torch.manual_seed(4)
    return make()


def test_a_mask_that_lets_the_own_place_through_is_told(tmp_path):
    with under_watch(tmp_path):
        trained(Made(strict=False))
    (fact,) = facts(tmp_path, OwnPlaces)
    assert (fact.root, fact.tried, fact.own, fact.ordered, fact.module) == ("Made", 8, 7, True, "last")
    assert fact.frame is not None and fact.called is not None
    assert [f.severity for f in findings(tmp_path, "own-place-seen")] == ["error"]


@pytest.mark.parametrize(
    ("make", "more"),
    [
        (lambda: Made(strict=True), {}),
        (lambda: nn.Sequential(nn.Linear(8, 5), nn.ReLU(), nn.Linear(5, 8)), {}),
        (lambda: Made(strict=False), {"loss": F.mse_loss}),
        (lambda: Made(strict=False), {"noise": 0.1}),
    ],
)
def test_other_models_are_silent(tmp_path, make, more):
    with under_watch(tmp_path):
        trained(seeded(make), **more)
    assert findings(tmp_path, "own-place-seen") == []


def test_watching_changes_no_number(tmp_path):
    with under_watch(tmp_path):
        watched = trained(seeded(lambda: Made(strict=False)))
    assert watched == trained(seeded(lambda: Made(strict=False)))
