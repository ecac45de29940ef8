"""Running statistics of a step, as a value."""

from __future__ import annotations

from debugtracer.trace.facts.norm_statistics import LayerStatistics, NormStatistics
from tests.checks.windows import ref


def test_each_step_is_news_and_enough_stay_for_a_comparison():
    layer = LayerStatistics(name="bn", kind="BatchNorm1d", momentum=0.1, mean=(0.0,), var=(1.0,))
    one, other = (NormStatistics(ref=ref(step), group=(0, 1), broadcast=True, layers=(layer,)) for step in (1, 2))
    assert one.key() != other.key()
    assert NormStatistics.KEEP >= 3
