"""A missing zero_grad put right on the steps that are kept."""

import torch
from torch import nn
from torch.nn import functional as F

from debugtracer.trace.events import Diagnosed
from tests.watching import events, under_watch


def without_zero_grad(out, steps=40):
    torch.manual_seed(0)
    data = [(x := torch.randn(16, 4), x.sum(1, keepdim=True)) for _ in range(steps)]
    model = nn.Linear(4, 1)
    with under_watch(out):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        for x, y in data:
            F.mse_loss(model(x), y).backward()
            optimizer.step()
        weights = [p.detach().clone() for p in model.parameters()]
    return weights, [e.verdict for e in events(out) if isinstance(e, Diagnosed) and e.verdict.trials]


def test_the_loss_would_have_fallen(tmp_path):
    _, (verdict, *_) = without_zero_grad(tmp_path)
    assert (verdict.kind, verdict.status) == ("stale_gradients", "confirmed")
    assert [(t.intervention, t.outcome) for t in verdict.trials] == [("unchanged", "reproduced"), ("one-line-fix", "healed")]
    assert verdict.tested.startswith("with gradients cleared before each backward of the last ")
    assert "as it was" in verdict.tested


def test_the_training_itself_is_not_mended(tmp_path):
    weights, _ = without_zero_grad(tmp_path)
    torch.manual_seed(0)
    data = [(x := torch.randn(16, 4), x.sum(1, keepdim=True)) for _ in range(40)]
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in data:
        F.mse_loss(model(x), y).backward()
        optimizer.step()
    assert all(torch.equal(a, b) for a, b in zip(weights, model.parameters(), strict=True))
