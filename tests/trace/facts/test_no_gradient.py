"""The fact of an optimizer without gradients."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.no_gradient import NoGradient
from tests.checks.optimizer.seen import at, line


def test_it_is_about_one_optimizer_and_comes_back_from_disk():
    fact = NoGradient(ref=at(3), optimizer=1, kind="SGD", frame=line(2), updates=4, looks=3, held=2, backwards=4)
    assert fact.key() == 1
    assert from_plain(NoGradient.word(), to_plain(fact)) == fact
