"""Did the update write finite numbers?"""

from __future__ import annotations

from math import inf, nan

from debugtracer.checks.numerics.nonfinite_parameter import NonfiniteParameter
from debugtracer.testing import a_window


def test_fires_when_a_finite_gradient_gave_a_bad_parameter():
    (finding,) = NonfiniteParameter().judge(a_window(0, grad_l2=0.731, param_l2=nan, bad=("embed.weight",)))
    assert finding.message == (
        "step 0, rank 0: the update made embed.weight non-finite (parameter norm nan) from a finite gradient (norm "
        "0.731); "
        "expected finite parameters. The verdict names the op inside the optimizer."
    )


def test_stays_silent_when_the_gradient_was_bad_already():
    assert not list(NonfiniteParameter().judge(a_window(grad_l2=nan, param_l2=nan)))


def test_stays_silent_when_only_our_norm_overflowed_and_on_finite_parameters():
    assert not list(NonfiniteParameter().judge(a_window(param_l2=inf, param_max=1e30)))
    assert not list(NonfiniteParameter().judge(a_window(param_l2=12.0)))
