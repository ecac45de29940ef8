"""How far answers and targets differ from row to row."""

from __future__ import annotations

import torch

from debugtracer.observers.loss.row_spread import LOGITS, row_spread

TARGET = torch.arange(40.0).reshape(20, 2)
ANSWER = torch.zeros(20, 2, requires_grad=True)


def test_the_variance_over_rows_of_both():
    assert row_spread("mse_loss", (ANSWER, TARGET), {}).tolist() == [0.0, 140.0]
    logits, share = torch.randn(20, 2, generator=torch.Generator().manual_seed(1)), torch.rand(20, 2)
    found = row_spread(LOGITS, (logits, share), {})
    torch.testing.assert_close(found, torch.stack([logits.sigmoid().var(0).mean(), share.var(0).mean()]))


def test_other_losses_few_rows_and_targets_that_learn_have_none():
    assert row_spread("cross_entropy", (ANSWER, torch.zeros(20, dtype=torch.long)), {}) is None
    assert row_spread("exp", (ANSWER,), {}) is None
    assert row_spread("mse_loss", (ANSWER[:7], TARGET[:7]), {}) is None
    assert row_spread("mse_loss", (ANSWER, ANSWER), {}) is None
    assert row_spread("mse_loss", (ANSWER, TARGET[:, :1]), {}) is None
