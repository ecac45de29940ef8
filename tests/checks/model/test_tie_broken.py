"""Tied parameters that are two."""

from __future__ import annotations

from debugtracer.checks.model.tie_broken import TieBroken
from debugtracer.trace.facts.ties import TieGone
from debugtracer.trace.window import Window
from tests.trace.facts.test_ties import a_break


def judged(*facts):
    return list(TieBroken().judge(Window(ref=facts[0].ref, facts={TieGone: facts}, came={TieGone: len(facts)})))


def test_a_call_that_made_two_of_one_is_a_warning_at_its_line():
    (finding,) = judged(a_break())
    assert (finding.severity, finding.kind, finding.place.frame.line, finding.place.param) == (
        "warning",
        "tie_broken",
        31,
        "head.weight",
    )
    assert finding.message == (
        "step 3, rank 0: since load_state_dict(assign=True) (train.py:31) emb.weight and head.weight, which were one, "
        "are two parameters of 4096 values and "
        "are trained apart; expected them to share their storage. Tie them again after it: head.weight = emb.weight."
    )


def test_two_different_tensors_and_an_assignment_may_be_wanted():
    (different,) = judged(a_break(equal=False))
    (assigned,) = judged(a_break(how="", frame=None, equal=False, count=3))
    assert (different.severity, assigned.severity) == ("note", "note")
    assert assigned.message.startswith(
        "step 3, rank 0: emb.weight and head.weight (and 2 more pairs), which were one, are two parameters"
    )


def test_a_conversion_is_named():
    (finding,) = judged(a_break(how="_apply"))
    assert "since a conversion (.to, .half, .double) (train.py:31) emb.weight" in finding.message
