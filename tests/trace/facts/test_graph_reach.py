"""The reach of backward as a value."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.graph_reach import Cut, GraphReach, LossWithoutGraph, SampledLatent, Stranger
from debugtracer.trace.step import StepRef


def test_the_facts_of_the_file_survive_json():
    ref = StepRef(iteration=1, step=1)
    reach = GraphReach(
        ref=ref,
        optimizer="Adam",
        number=1,
        lost=("a",),
        cut=Cut(function="detach"),
        strangers=(Stranger(path=None, owner=None, members=0, shape=(2,)),),
    )
    assert from_plain(reach.word(), to_plain(reach)) == reach
    assert reach.key() == 1
    loose = LossWithoutGraph(ref=ref, leaf=True)
    assert from_plain("graph-reach/LossWithoutGraph", to_plain(loose)) == loose
    drawn = SampledLatent(ref=ref, function="Normal.sample", optimizer="Adam", lost=("a",), count=1, elsewhere=False)
    assert from_plain("graph-reach/SampledLatent", to_plain(drawn)) == drawn
