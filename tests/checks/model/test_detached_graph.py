"""Do the losses hang on the parameters that made them?"""

from __future__ import annotations

from debugtracer.checks.model.detached_graph import DetachedGraph
from debugtracer.trace.facts.graph_reach import Cut, GraphReach
from tests.checks.facts_at import judged, line, ref

CUT = Cut(function="detach", frame=line(22))


def reach(step: int, lost_numel: int = 900, number: int = 0, **fields: object) -> GraphReach:
    common = {"lost": ("encoder.weight", "encoder.bias"), "cut": CUT, "reached": 100, "lasting": step + 1}
    return GraphReach(ref=ref(step), optimizer="Adam", number=number, lost_numel=lost_numel, **{**common, **fields})  # type: ignore[arg-type]


def test_a_cut_that_lasts_three_updates_is_a_warning():
    (finding,) = judged(DetachedGraph(), [reach(step) for step in range(3)])
    assert finding.message == (
        "step 0, rank 0: 2 parameters (encoder.weight, ...), 90% of the values that Adam trains, take part in the "
        "forward and no loss hangs on them: detach at line 22 ends the graph; expected a gradient. Remove the detach, "
        "or set requires_grad_(False) if they are frozen on purpose."
    )
    assert (finding.severity, finding.kind, finding.place.frame.line) == ("warning", "detached_graph", 22)


def test_two_updates_and_alternating_parts_are_silent():
    assert not judged(DetachedGraph(), [reach(0), reach(1)])
    assert not judged(DetachedGraph(), [reach(0), reach(1), reach(2, lost=(), lasting=0), reach(3, lasting=1)])


def test_a_small_part_a_sleeping_part_and_an_unknown_cut_are_notes():
    for fields in ({"lost_numel": 30}, {"asleep": True}, {"cut": None}):
        assert [f.severity for f in judged(DetachedGraph(), [reach(step, **fields) for step in range(3)])] == ["note"]
