"""Does the model answer numbers?"""

from __future__ import annotations

from debugtracer.checks.numerics.nonfinite_output import NonfiniteOutput
from debugtracer.testing import a_window


def test_fires_on_nan_in_an_output():
    (finding,) = NonfiniteOutput().judge(a_window(120, output_nan=64.0))
    assert finding.message == (
        "step 120, rank 0: the model returned 64 NaN values and no backward follows; expected none. The verdict says "
        "where it was born."
    )


def test_stays_silent_without_nan_or_without_a_measurement():
    assert not list(NonfiniteOutput().judge(a_window(output_nan=0.0)))
    assert not list(NonfiniteOutput().judge(a_window(loss=1.0)))
