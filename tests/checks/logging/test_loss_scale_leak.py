"""A loss logged times its scale."""

from __future__ import annotations

import pytest

from debugtracer.checks.logging.loss_scale_leak import LossScaleLeak
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.logged import Logged
from tests.checks.crashes import REF, told


def logged(*ratios, scaler=True):
    return [
        Logged(
            ref=REF,
            source="tensorboard",
            name="train/loss",
            value=1.0,
            ratio=r,
            scaler=scaler,
            frame=Frame("/p/train.py", 31),
        )
        for r in ratios
    ]


def test_four_values_in_a_row_that_are_the_scale_times_the_loss():
    (finding,) = told(LossScaleLeak(), *logged(65536.0, 65536.0, 32768.0, 32768.0, 32768.0))
    assert finding.message == (
        "step 5, rank 0: train/loss (train.py:31) is 32768 times the loss that was computed, 4 times in a row; "
        "expected the loss itself. Log it before "
        "scaler.scale."
    )


@pytest.mark.parametrize(
    "ratios", [(1.0,) * 8, (1024.0, 1024.0, 1024.0, 1.0) * 2, (1000.0,) * 8, (2.0,) * 8, (None,) * 8]
)
def test_the_loss_itself_a_mean_of_it_and_a_short_row_are_silent(ratios):
    assert told(LossScaleLeak(), *logged(*ratios)) == []


def test_without_a_scaler_it_is_a_factor_of_the_users_own():
    assert told(LossScaleLeak(), *logged(*(1024.0,) * 8, scaler=False)) == []
