"""Effects of updates as values."""

from __future__ import annotations

from debugtracer.trace.facts.effects import DecayedGains, HalfState
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.optimizer.seen import at, effect


def test_news_are_told_apart_and_survive_the_disk():
    look = effect(2, 1)
    half = HalfState(ref=at(0), optimizer=1, kind="Adam", frame=None, eps=1e-8, dtype="float16", least=6e-8, param="w")
    gains = DecayedGains(
        ref=at(0), optimizer=1, kind="SGD", frame=None, params=("w",), count=1, decay=0.1, factor=0.5, size=0.5
    )
    assert (look.key(), half.key(), gains.key()) == (0, (1, "float16"), 1)
    assert from_plain("effects/Effect", to_plain(look)) == look
