"""Are the gradients finite at the gate?"""

from __future__ import annotations

from math import inf, nan

from debugtracer.checks.numerics.nonfinite_gradient import NonfiniteGradient
from debugtracer.testing import a_window
from debugtracer.trace.window import SCALER_SKIPPING


def test_fires_on_a_bad_norm_and_names_the_loss_beside_it():
    (finding,) = NonfiniteGradient().judge(a_window(56, loss=0.4211, grad_l2=(1.2, 1.1, nan), bad=("conv.weight",)))
    assert finding.message == (
        "step 56, rank 0: the gradient norm is nan, first in conv.weight while the loss is 0.4211; the last 2 were "
        "1.2, 1.1; "
        "expected a finite norm. The verdict says where it was born."
    )


def test_stays_silent_while_a_scaler_skips_the_update():
    assert not list(NonfiniteGradient().judge(a_window(grad_l2=inf, flags=(SCALER_SKIPPING,))))


def test_stays_silent_when_only_our_norm_overflowed():
    assert not list(NonfiniteGradient().judge(a_window(grad_l2=inf, grad_max=1e30)))
    assert list(NonfiniteGradient().judge(a_window(grad_l2=inf, grad_max=inf)))


def test_stays_silent_on_a_finite_norm():
    assert not list(NonfiniteGradient().judge(a_window(grad_l2=1e30)))
