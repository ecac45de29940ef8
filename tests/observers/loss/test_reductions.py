"""What a number is the sum or the mean of."""

from __future__ import annotations

import pytest
import torch

from debugtracer.observers.loss.reductions import Reduction, reduction_of, scaled

X, ONE = torch.ones(4, 5), torch.ones(())
MEAN = Reduction("mean", 20, 0.05)


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "found"),
    [
        ("sum", (X,), {}, Reduction("sum", 20, 1.0)),
        ("mean", (X,), {}, MEAN),
        ("sum", (X, 1), {}, None),
        ("mean", (X,), {"dim": 1}, None),
        ("sum", (ONE,), {}, None),
        ("mse_loss", (X, X), {}, MEAN),
        ("mse_loss", (X, X), {"reduction": "sum"}, Reduction("sum", 20, 1.0)),
        ("mse_loss", (X, X), {"reduction": "none"}, None),
        ("kl_div", (X, X), {"reduction": "batchmean"}, Reduction("mean", 20, 0.25)),
        ("cross_entropy", (X, torch.zeros(4, dtype=torch.long)), {}, Reduction("mean", 4, 0.25)),
        ("exp", (X,), {}, None),
    ],
)
def test_the_reduction_of_a_call(name, args, kwargs, found):
    assert reduction_of(name, args, kwargs) == found


def test_factors_are_counted():
    assert scaled(MEAN, "__rmul__", (ONE, -2.0)) == Reduction("mean", 20, -0.1)
    assert scaled(MEAN, "__truediv__", (ONE, 5)) == Reduction("mean", 20, 0.01)
    assert scaled(MEAN, "neg", (ONE,)) == Reduction("mean", 20, -0.05)
    assert scaled(MEAN, "__mul__", (ONE, ONE)) is None and scaled(MEAN, "exp", (ONE, 2)) is None
