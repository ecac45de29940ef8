"""Terms of a loss that train nobody."""

from __future__ import annotations

from typing import Any

from debugtracer.checks.model.term_unused import TermUnused
from debugtracer.trace.facts.unused_term import UnusedTerm
from tests.checks.optimizer.seen import at, found, line


def unused(step: int, **more: Any) -> UnusedTerm:
    given = {
        "ref": at(step), "number": 0, "terms": 2, "used": False, "parameters": 6, "backward": line(76), "kind": "Adam",
        "built": line(62), "other_kind": "Adam", "other_built": line(61), "cleared": line(69), "cut": line(73),
        "taken": line(73),
    }  # fmt: skip
    return UnusedTerm(**{**given, **more})


def test_it_is_said_once_at_the_line_that_cut():
    (finding,) = found(TermUnused(), [unused(step) for step in (1, 3, 5, 7)])
    assert (finding.severity, finding.kind, finding.step) == ("warning", "detached_graph", 1)
    assert (finding.place.frame, finding.place.symptom_frame) == (line(73), line(76))
    assert finding.message == (
        "step 1, rank 0: term 1 of 2 in the loss of line 76 reaches 6 parameters of Adam (train.py:62) alone, and "
        "zero_grad (train.py:69) cleared their gradients before each of its steps, in 3 backwards; from what Adam "
        "(train.py:61) trains it is cut off (train.py:73); expected that to be trained by it. Leave the detach (or "
        "no_grad) out in this step."
    )


def test_two_backwards_are_too_few():
    assert found(TermUnused(), [unused(step) for step in (1, 3)]) == []


def test_a_term_that_was_cut_off_from_nothing_is_silent():
    assert found(TermUnused(), [unused(step, cut=None, taken=None) for step in range(6)]) == []


def test_the_cut_may_be_seen_later_and_the_call_stands_for_it():
    none = {"cut": None, "taken": None}
    facts = [*(unused(step, **none) for step in range(4)), unused(4, cut=None, taken=line(74))]
    (finding,) = found(TermUnused(), facts)
    assert finding.place.frame == line(74)


def test_a_term_that_was_used_once_is_silent():
    facts = [unused(1), unused(3, used=True), unused(5), unused(7), unused(9)]
    assert found(TermUnused(), facts) == []


def test_terms_of_other_losses_are_counted_apart():
    facts = [unused(1), unused(3, backward=line(80)), unused(5, number=1), unused(7)]
    assert found(TermUnused(), facts) == []


def test_one_parameter_cleared_by_hand():
    (finding,) = found(TermUnused(), [unused(step, parameters=1, cleared=None) for step in range(3)])
    assert "reaches a parameter of Adam" in finding.message and "and the loop cleared" in finding.message
