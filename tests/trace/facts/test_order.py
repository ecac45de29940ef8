"""Calls of an update as values."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.order import NoStep
from tests.checks.optimizer.seen import at, call, line, order


def test_the_words_and_the_backwards_that_count():
    fact = order(1, call("zero_grad"), call("backward", live=False), call("backward", live=True))
    assert fact.pattern() == ("zero_grad", "backward", "backward")
    assert fact.backwards() == [fact.calls[2]]


def test_news_are_told_apart_by_optimizer_and_survive_the_disk():
    fact = order(1, call("clip", limit="Infinity"), optimizer=3)
    never = NoStep(ref=at(0), optimizer=3, kind="SGD", frame=line(1), backward_frame=None, backwards=2, zeroed=1)
    assert fact.key() == never.key() == 3
    assert from_plain("order/StepOrder", to_plain(fact)) == fact
