"""Distances to edges as values."""

from __future__ import annotations

from debugtracer.trace.facts.domain_edges import DomainEdges, Edge
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.step import StepRef


def test_it_survives_json():
    edge = Edge(op="exp", kind="overflow", dtype="float16", distance="Infinity", grain=6e-8, limit=11.09)
    fact = DomainEdges(ref=StepRef(iteration=0, step=0), edges=(edge,))
    assert from_plain(fact.word(), to_plain(fact)) == fact
