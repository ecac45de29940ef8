"""backward runs a second time through a graph that is gone."""

from __future__ import annotations

from tests.causes.listening import guess, hears, is_silent, told


def test_hears_graph_freed():
    finding = told("model/graph-freed")
    evidence = hears("graph-freed", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("detach what is carried f")


def test_what_else_was_seen_counts():
    finding = guess(told("model/graph-freed"))
    alone = hears("graph-freed", finding).confidence
    assert hears("graph-freed", finding, told("logging/held-graph")).confidence > alone


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("graph-freed", told("data/loader-bound"), told("logging/held-graph"))
