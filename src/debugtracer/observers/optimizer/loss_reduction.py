"""How the loss that backward begins with was made from its rows: divided, multiplied, summed."""

from __future__ import annotations

from torch import Tensor

MADE_SMALLER = ("DivBackward", "MulBackward")
MEAN = 1  # of reduction="mean"
SUM = 2  # torch's number of reduction="sum"


def is_divided(loss: Tensor) -> bool:
    """True if the loss, or what a scaler multiplied, is a quotient or a product."""
    made = loss.grad_fn
    return made is not None and made.name().startswith(MADE_SMALLER)


def is_mean(loss: Tensor) -> bool:
    """True if the loss is the mean over its rows, as mean() or a loss of torch with reduction="mean" makes it."""
    made = loss.grad_fn
    if made is None:
        return False
    return made.name().startswith("MeanBackward") or getattr(made, "_saved_reduction", 0) == MEAN


def is_sum(loss: Tensor) -> bool:
    """True if the loss adds its rows up, so that microbatches add up to the same."""
    made = loss.grad_fn
    return made is not None and (made.name().startswith("SumBackward") or getattr(made, "_saved_reduction", 1) == SUM)
