"""Bookkeeping keeps graphs of past steps alive."""

from __future__ import annotations

from tests.causes.listening import change, guess, hears, is_silent, told


def test_hears_held_graph():
    finding = told("logging/held-graph")
    evidence = hears("memory-leak-graph", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("store the number: loss.i")


def test_what_else_was_seen_counts():
    finding = guess(told("logging/held-graph"))
    alone = hears("memory-leak-graph", finding).confidence
    assert hears("memory-leak-graph", finding, told("device/memory-growth")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("memory-leak-graph", told("data/loader-bound"), told("device/memory-growth"))


def test_the_change_is_made_at_the_line():
    assert change("memory-leak-graph", "total += loss") == ("total += loss.detach()",)
    assert change("memory-leak-graph", "pass") is None
