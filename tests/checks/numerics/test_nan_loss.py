"""Is the loss a number?"""

from __future__ import annotations

from math import inf, nan

import pytest

from debugtracer.checks.numerics.nan_loss import NanLoss
from debugtracer.testing import a_window
from debugtracer.trace.window import SCALER_SKIPPING


def test_fires_on_nan_with_the_values_before():
    (finding,) = NanLoss().judge(a_window(48, loss=(0.693, 0.688, nan)))
    assert finding.message == (
        "step 48, rank 0: the loss is nan; the last 2 were 0.693, 0.688; expected a finite number. The verdict says "
        "where it was born."
    )
    assert (finding.check, finding.layer, finding.severity, finding.step) == (
        "numerics/nan-loss",
        "numerics",
        "error",
        48,
    )
    assert finding.evidence == {"loss": "NaN"}


@pytest.mark.parametrize("loss", [inf, -inf])
def test_fires_on_infinity(loss):
    assert len(list(NanLoss().judge(a_window(loss=loss)))) == 1


@pytest.mark.parametrize("loss", [0.0, -5.0, 3.4e38])
def test_stays_silent_on_a_finite_loss(loss):
    assert not list(NanLoss().judge(a_window(loss=(nan, loss))))


def test_stays_silent_when_no_loss_was_measured():
    assert not list(NanLoss().judge(a_window(grad_l2=nan)))


def test_a_scale_search_excuses_infinity_and_not_nan():
    assert not list(NanLoss().judge(a_window(loss=inf, flags=(SCALER_SKIPPING,))))
    assert list(NanLoss().judge(a_window(loss=nan, flags=(SCALER_SKIPPING,))))
