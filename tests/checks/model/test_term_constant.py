"""Terms of a loss that have no graph."""

from __future__ import annotations

import pytest

from debugtracer.checks.model.term_constant import TermConstant
from debugtracer.trace.facts.cut_term import CutTerm
from tests.checks.optimizer.seen import at, found, line


def judged(steps, function="no_grad"):
    return found(
        TermConstant(),
        [
            CutTerm(ref=at(s), function=function, reduced="mse_loss", frame=line(19), sum_frame=line(28))
            for s in range(steps)
        ],
    )


def test_two_steps_are_needed_and_it_is_said_once():
    assert judged(1) == []
    (finding,) = judged(3)
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "detached_graph", line(19))
    assert finding.place.symptom_frame == line(28)
    assert finding.message == (
        "step 0, rank 0: no_grad (train.py:19) ends the graph of a term that mse_loss makes and the loss adds "
        "(train.py:28), in 2 steps, so it changes no weight; expected a graph from the term to what is trained. Take "
        "the no_grad out: frozen weights need requires_grad_(False) alone, and hand the gradient on."
    )


@pytest.mark.parametrize(("function", "words"), [("detach", "leave .detach() out"), ("data", "use the weights")])
def test_the_remedy_goes_with_what_ended_the_graph(function, words):
    (finding,) = judged(2, function)
    assert len(finding.remedy) == 1 and finding.remedy[0].startswith(words)
