"""How much of an update of Adam reaches weights of half precision."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.optim import SGD, Adam, AdamW

from debugtracer.observers.numerics.dynamics import dynamics_of
from debugtracer.observers.numerics.weights_before import WeightsBefore
from debugtracer.trace.facts.health import Health
from tests.observers.told import facts
from tests.watching import under_watch


class Elsewhere(AdamW):
    """One that may round in its own way."""


def stepped(kind, lr, dtype=torch.bfloat16, **options):
    draws = torch.Generator().manual_seed(0)
    p = nn.Parameter(torch.randn(4000, generator=draws).to(dtype))
    optimizer = kind([p], lr=lr, **options)
    for _ in range(3):
        p.grad = torch.randn(4000, generator=draws).to(dtype)
        before = WeightsBefore([p])
        optimizer.step()
    with torch.no_grad():
        (row,) = dynamics_of([("w", p)], optimizer, before)
    return row


@pytest.mark.parametrize("options", [{}, {"amsgrad": True}, {"weight_decay": 0.1}, {"maximize": True}])
def test_all_of_an_update_arrives_at_a_high_rate_and_little_at_a_low_one(options):
    for kind in (Adam, AdamW):
        assert stepped(kind, 0.05, **options).arrived == pytest.approx(1.0, abs=0.1)
        assert stepped(kind, 2e-4, **options).arrived < 0.4


def test_the_meant_update_is_what_arrives_without_rounding():
    row = stepped(Adam, 0.05)
    assert row.meant_l2 == pytest.approx(row.update_l2, rel=0.02)


def test_float32_another_class_and_another_rule_have_none():
    assert stepped(Adam, 2e-4, dtype=torch.float32).arrived is None
    assert stepped(Elsewhere, 2e-4).arrived is None and stepped(SGD, 2e-4).meant_l2 is None


def train(out, model, dtype):
    optimizer = AdamW(model.parameters(), lr=1e-4)
    with under_watch(out):
        for _ in range(3):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = model(torch.ones(6, 16, dtype=dtype)).float().square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return [row.arrived for fact in facts(out, Health) for row in fact.params if row.name == "weight"]


def test_in_a_loop(tmp_path):
    shares = train(tmp_path / "half", nn.Linear(16, 16).bfloat16(), torch.bfloat16)
    assert len(shares) == 3 and all(0 <= share < 0.9 for share in shares)
    assert train(tmp_path / "mixed", nn.Linear(16, 16), torch.float32) == [None] * 3
