"""Rates and schedules as values."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.schedule import RateFaded, RateKept
from tests.checks.optimizer.seen import rate, schedule


def test_news_are_told_apart_and_survive_the_disk():
    a, b = rate(optimizer=2, high="NaN"), schedule("StepLR", scheduler=5, fallen_at=3)
    assert (a.key(), b.key()) == (2, 5)
    assert from_plain("schedule/Rate", to_plain(a)) == a
    assert from_plain("schedule/Schedule", to_plain(b)) == b


def test_a_rate_that_was_kept_is_told_by_its_optimizer():
    kept = RateKept(ref=rate().ref, optimizer=3, kind="SGD", frame=None, built=0.1, rate=1e-4, updates=40)
    assert kept.key() == 3
    assert from_plain("schedule/RateKept", to_plain(kept)) == kept


def test_a_rate_that_faded_is_told_by_its_optimizer():
    faded = RateFaded(
        ref=rate().ref,
        optimizer=2,
        kind="SGD",
        frame=None,
        peak=0.5,
        rate=1e-6,
        updates=90,
        faded=60,
        since=30,
        falls=9,
    )
    assert faded.key() == 2
    assert from_plain("schedule/RateFaded", to_plain(faded)) == faded
