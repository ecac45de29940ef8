"""Penalties without a graph."""

from __future__ import annotations

from debugtracer.checks.model.penalty_constant import PenaltyConstant
from debugtracer.trace.facts.constant_term import ConstantTerm
from tests.checks.optimizer.seen import at, found, line


def test_it_is_said_once_with_both_lines():
    facts = [ConstantTerm(ref=at(step), frame=line(128), sum_frame=line(178)) for step in range(3)]
    (finding,) = found(PenaltyConstant(), facts)
    assert (finding.severity, finding.kind) == ("warning", "detached_graph")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(128), line(178))
    assert finding.message == (
        "step 0, rank 0: a term of the loss (train.py:178) is made of gradients (train.py:128) that have no graph, so "
        "it changes no weight; expected a graph through them. Pass create_graph=True to torch.autograd.grad."
    )


def test_a_derivative_inside_a_term():
    (finding,) = found(PenaltyConstant(), [ConstantTerm(ref=at(1), frame=line(29), sum_frame=line(30), mixed=True)])
    assert (finding.place.frame, finding.place.symptom_frame) == (line(29), line(30))
    assert finding.message == (
        "step 1, rank 0: derivatives (train.py:29) that have no graph are added to values that have one (train.py:30), "
        "so no gradient of the loss passes through them; expected a graph through them. Pass create_graph=True to "
        "torch.autograd.grad."
    )
    assert ".detach()" in finding.remedy[1]
