"""A flag as a value."""

from __future__ import annotations

from debugtracer.trace.facts.overflow_flag import OverflowFlag
from tests.checks.windows import ref


def test_each_step_that_had_it_is_news():
    one, other = (OverflowFlag(ref=ref(step), device="npu", since=0) for step in (10, 20))
    assert one.key() != other.key()
