"""What a number is the sum or the mean of."""

from __future__ import annotations

import pytest
import torch

from debugtracer.observers.loss.reductions import Reduction, of_parameter, reduced, reduction_of, scaled

X, ROWS, ONE = torch.ones(4, 5), torch.ones(4), torch.ones(())
MEAN = Reduction("mean", 20, 0.05)


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "found"),
    [
        ("sum", (X,), {}, Reduction("sum", 20, 1.0)),
        ("mean", (X,), {}, MEAN),
        ("sum", (X, 1), {}, Reduction("sum", 20, 1.0)),
        ("mean", (X,), {"dim": 1}, Reduction("mean", 20, 0.2)),
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
    by_row = "dim" in kwargs or isinstance(args[-1], int)
    assert reduction_of(name, args, kwargs, ROWS if by_row else ONE) == found


def test_factors_are_counted():
    assert scaled(MEAN, "__rmul__", (ONE, -2.0)) == Reduction("mean", 20, -0.1)
    assert scaled(MEAN, "__truediv__", (ONE, 5)) == Reduction("mean", 20, 0.01)
    assert scaled(MEAN, "neg", (ONE,)) == Reduction("mean", 20, -0.05)
    assert scaled(MEAN, "__mul__", (ONE, ONE)) is None and scaled(MEAN, "exp", (ONE, 2)) is None


def test_a_mean_of_sums_is_a_sum_and_a_mean_of_means_a_mean():
    assert reduced(Reduction("sum", 20, 1.0), "mean", ROWS, ONE) == Reduction("sum", 20, 0.25)
    assert reduced(Reduction("mean", 20, 0.2), "mean", ROWS, ONE) == MEAN
    assert reduced(Reduction("mean", 20, 0.2), "sum", ROWS, ONE) == Reduction("sum", 20, 0.2)
    assert reduced(Reduction("mean", 20, 0.2), "exp", ROWS, ONE) is None


def test_penalties_on_weights_have_no_rows():
    layer = torch.nn.Linear(4, 5, bias=False)
    weight = layer.weight
    for value in (weight, weight.pow(2), weight * weight, weight.abs(), weight.square().sum(1), weight.norm(dim=1)):
        assert of_parameter(value)
        assert reduction_of("sum", (value,), {}, value.sum()) is None
    for value in (layer(X.T.reshape(5, 4)), weight * X.T, torch.ones(4, requires_grad=True).square(), X):
        assert not of_parameter(value)
