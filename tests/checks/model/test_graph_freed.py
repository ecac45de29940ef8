"""A graph used twice."""

from __future__ import annotations

from debugtracer.checks.model.graph_freed import GraphFreed
from tests.checks.crashes import LINE, a_crash, silent_on_another_error, told


def test_the_backward_is_named():
    (finding,) = told(
        GraphFreed(),
        a_crash("Trying to backward through the graph a second time (or directly access saved tensors ..."),
    )
    assert finding.message == (
        "step 5, rank 0: backward (train.py:34) went into a graph that an earlier backward has freed; expected a graph "
        "built in this step. Detach what "
        "is carried over from the step before."
    )
    assert (finding.kind, finding.place.frame) == ("graph_freed", LINE)


def test_another_exception_is_none_of_its_business():
    silent_on_another_error(GraphFreed())
