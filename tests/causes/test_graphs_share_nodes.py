"""Graphs that should have nodes of their own share those of the first."""

from __future__ import annotations

from debugtracer.checks.data.graphs_share_nodes import GraphsShareNodes
from tests.causes.listening import hears, is_silent, told


def test_uses_the_finding_of_its_check():
    finding = told("data/graphs-share-nodes")
    evidence = hears("graphs-share-nodes", finding)
    assert evidence.leading == finding
    assert evidence.remedies == GraphsShareNodes.remedies


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("graphs-share-nodes", told("data/loader-bound"), told("optimizer/validation-gap"))
