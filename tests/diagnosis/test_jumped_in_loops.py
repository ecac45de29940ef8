"""Finite jumps of the loss from the judge of a watched loop to the verdict: class, samples, settings and what healed
them."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.events import Diagnosed
from tests.watching import events, under_watch

STEPS = 130


def jumped(out, *, rows=None, lr_at=None):
    """A training whose batch 110 holds rows with labels of another scale, or whose rate jumps at step 110."""
    torch.manual_seed(0)
    x = torch.randn(STEPS * 16, 8)
    y = x[:, :3].sum(1, keepdim=True) + 0.3 * torch.randn(STEPS * 16, 1)
    if rows is not None:
        y[[110 * 16 + r for r in rows]] = 400.0
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
    with under_watch(out, trials_s=120.0, cost=1.0):  # on a machine with much else to do, too
        optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
        for step, (a, b) in enumerate(DataLoader(TensorDataset(x, y), batch_size=16)):
            if step == lr_at:
                optimizer.param_groups[0]["lr"] = 1.0
            loss = F.mse_loss(model(a), b)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return [e.verdict for e in events(out) if isinstance(e, Diagnosed) and e.verdict.trials]


def test_two_foreign_rows_are_named_and_without_them_the_loss_is_usual(tmp_path):
    verdict = jumped(tmp_path, rows=(4, 9))[0]
    assert verdict.kind == "data_hard_samples"
    assert verdict.sample_index == (110 * 16 + 4, 110 * 16 + 9)
    outcomes = {t.intervention.partition("=")[0]: t.outcome for t in verdict.trials}
    assert outcomes["unchanged"] == "reproduced"
    assert outcomes["without-sample"] == "healed"
    assert outcomes.get("lower-lr", "not healed") == "not healed"
    assert verdict.status in ("confirmed", "likely")


def test_a_rate_that_jumped_is_told_with_its_step(tmp_path):
    verdict = jumped(tmp_path, lr_at=110)[0]
    assert verdict.kind == "lr_too_high"
    assert "lr of group 0 went from 0.005 to 1 at step 110" in verdict.evidence
    assert any("moved first" in text for text in verdict.evidence)
    assert any(
        "lowers the loss of its own batch" in text or "raises the loss of its own batch" in text
        for text in verdict.evidence
    )
    assert any(t.intervention.startswith("lower-lr") and t.outcome == "healed" for t in verdict.trials)


def test_a_healthy_run_is_never_tried(tmp_path):
    assert jumped(tmp_path) == []
