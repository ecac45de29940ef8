"""A sample of memory as a value."""

from __future__ import annotations

from debugtracer.trace.facts.memory import Memory
from tests.checks.windows import ref


def test_each_sample_is_news_and_enough_stay_for_a_slope():
    one, other = (Memory(ref=ref(step), resident=5, allocated=None, reserved=None, total=None) for step in (10, 20))
    assert one.key() != other.key()
    assert Memory.KEEP >= 40
