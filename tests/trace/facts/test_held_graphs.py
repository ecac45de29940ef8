"""Held graphs as a value."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.logging.test_held_graph import fact


def test_losses_and_outputs_are_told_apart():
    assert fact("loss").key() != fact("output").key()
    assert from_plain("held-graphs/HeldGraphs", to_plain(fact())) == fact()
