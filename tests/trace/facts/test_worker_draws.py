"""What workers draw from, as a value."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.data.test_worker_rng import drawn, fact


def test_each_generator_of_each_loader_is_news_of_its_own():
    one = fact(drawn(7, 8))
    assert one.key() == (0, "dataset.rng")
    assert from_plain("worker-draws/WorkerDraws", to_plain(one)) == one
