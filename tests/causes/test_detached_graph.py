"""The loss is cut off from parameters."""

from __future__ import annotations

from tests.causes.listening import change, guess, hears, is_silent, told


def test_hears_detached_graph():
    finding = told("model/detached-graph")
    evidence = hears("detached-graph", finding)
    assert evidence.leading == finding
    assert evidence.exact is False
    assert evidence.remedies[0].startswith("remove the call that end")


def test_what_else_was_seen_counts():
    finding = guess(told("model/detached-graph"))
    alone = hears("detached-graph", finding).confidence
    assert hears("detached-graph", finding, told("optimizer/no-update")).confidence > alone
    against = told("model/frozen-held")
    assert hears("detached-graph", finding, against).confidence < alone
    assert hears("detached-graph", finding, against).against == (against.message,)


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("detached-graph", told("data/loader-bound"), told("optimizer/no-update"))


def test_the_change_is_made_at_the_line():
    assert change("detached-graph", "pooled = states.mean(1).data") == ("pooled = states.mean(1)",)
    assert change("detached-graph", "pass") is None
