"""How a loss was made."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from debugtracer.observers.optimizer.loss_reduction import is_divided, is_sum

X, Y = torch.ones(4, 3, requires_grad=True), torch.zeros(4, dtype=torch.long)


@pytest.mark.parametrize(
    ("loss", "summed"),
    [
        (F.cross_entropy(X, Y), False),
        (F.cross_entropy(X, Y, reduction="sum"), True),
        (F.mse_loss(X, torch.zeros(4, 3), reduction="sum"), True),
        (F.mse_loss(X, torch.zeros(4, 3)), False),
        (X.sum(), True),
        (X.mean(), False),
        (torch.ones(()), False),
    ],
)
def test_a_sum_is_told_from_a_mean(loss: torch.Tensor, summed: bool) -> None:
    assert is_sum(loss) is summed


def test_a_quotient_and_a_product_are_made_smaller() -> None:
    assert is_divided(X.mean() / 4)
    assert is_divided(X.mean() * 0.25)
    assert not is_divided(X.mean())
