"""Does the loss hang on any parameter at all?"""

from __future__ import annotations

from debugtracer.checks.model.loss_without_graph import LossWithoutGraph
from debugtracer.trace.facts.graph_reach import Cut
from debugtracer.trace.facts.graph_reach import LossWithoutGraph as Loose
from tests.checks.facts_at import judged, line, ref


def test_the_call_that_ended_the_graph_is_named():
    (finding,) = judged(
        LossWithoutGraph(), [Loose(ref=ref(), leaf=True, cut=Cut(function="item", frame=line(31)), frame=line(33))]
    )
    assert finding.message == (
        "step 0, rank 0: backward() is called on a loss that hangs on no parameter: item at line 31 ended the graph; "
        "expected a loss computed from the model's output. Keep the tensor."
    )
    assert (finding.kind, finding.exact, finding.place.frame.line, finding.place.symptom_frame.line) == (
        "detached_graph",
        True,
        31,
        33,
    )


def test_without_a_known_call_the_backward_is_the_place():
    (finding,) = judged(LossWithoutGraph(), [Loose(ref=ref(), leaf=False, frame=line(33))])
    assert finding.place.frame.line == 33
