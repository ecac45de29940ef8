"""A sample of the queue for a core as a value."""

from __future__ import annotations

from debugtracer.trace.facts.core_queue import CoreQueue
from tests.checks.windows import ref


def test_each_sample_is_news_and_the_newest_stay():
    one, other = (CoreQueue(ref=ref(step), wall_s=1.0, queued_s=0.1) for step in (10, 20))
    assert one.key() != other.key()
    assert CoreQueue.KEEP < 20
