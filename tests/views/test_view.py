"""The contract of views, and which incident explains a run."""

from __future__ import annotations

import json

import msgspec

from debugtracer.diagnosis.proof.rank import rank
from debugtracer.testing import AT, a_birth, a_finding, a_masked_row, a_tensor, a_trace, an_incident, some_facts
from debugtracer.trace.events import Found
from debugtracer.trace.leading_finding import lead
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.view import answered, findings, further, incidents, own_birth, views

LOG = a_birth("aten::log", a_tensor(0.0))


def test_every_view_has_a_word_of_its_own_and_an_extension():
    assert {word: view.extension for word, view in views().items()} == {
        "html": "html",
        "json": "json",
        "markdown": "md",
        "sarif": "sarif",
        "terminal": "txt",
    }


def test_a_value_is_born_here_in_an_op_or_in_the_batch_of_this_rank():
    assert own_birth(LOG)
    assert own_birth(a_birth(None, kind="input", direction="input", input_name="batch[0]"))
    assert not own_birth(a_birth(None, kind="input", direction="input", input_name="parameter w"))
    assert not own_birth(None)


def test_incidents_come_by_iteration_and_those_without_a_verdict_are_left_out(tmp_path):
    early, late = some_facts(LOG, step=3), some_facts(LOG, step=9)
    run = a_trace(
        tmp_path,
        an_incident(late, rank(late)),
        an_incident(early, rank(early)),
        an_incident(some_facts(LOG, step=1), None),
    )
    assert [e.facts.ref.step for e in incidents(open_trace(run))] == [3, 9]


def test_findings_come_by_place(tmp_path):
    run = a_trace(tmp_path, Found(at=AT, finding=a_finding(step=9)), Found(at=AT + 1, finding=a_finding(step=2)))
    assert [f.step for f in findings(open_trace(run))] == [2, 9]


def test_a_question_that_was_answered_is_left_out(tmp_path):
    question = a_finding(
        "optimizer/loss-spike",
        "note",
        step=70,
        message="step 70, rank 0: the loss is 9. Whether it recovers is known in 32 steps.",
    )
    answer = a_finding(
        "optimizer/loss-spike", "warning", step=70, message="step 70, rank 0: the loss was 9 for 1 step and back"
    )
    left = a_finding("optimizer/loss-divergence", "warning", step=70, message="step 70, rank 0: the loss left 1 for 9")
    other = a_finding(
        "optimizer/loss-spike", "warning", step=90, message="step 90, rank 0: the loss was 9 for 1 step and back"
    )
    assert answered([question, answer]) == [answer]
    assert answered([question, left]) == [left]
    assert answered([question, other]) == [question, other]
    run = a_trace(tmp_path, Found(at=AT, finding=question), Found(at=AT + 1, finding=answer))
    assert findings(open_trace(run)) == [answer]
    (told,) = json.loads(views()["json"].render(open_trace(run)))["findings"]
    assert told["message"] == answer.message


def test_what_the_verdict_tells_is_no_further_finding():
    alarm, later, note = a_finding(), a_finding(step=60), a_finding("data/range-extreme", "note")
    verdict = rank(a_masked_row())
    assert further([alarm, later, note], verdict) == [later, note]
    assert further([alarm, later, note], None) == [alarm, later, note]


def test_the_exception_that_ended_the_program_comes_first():
    late = msgspec.structs.replace(a_finding("numerics/crash-values", "error", step=21), symptom="crash", kind=None)
    early = msgspec.structs.replace(a_finding("optimizer/sched-order", "warning"), kind="scheduler_misuse")
    assert lead([early, late]) is None
    assert further([early, late], None) == [late, early]


def test_the_finding_that_a_verdict_comes_from_is_no_further_one():
    first = msgspec.structs.replace(a_finding("optimizer/zero-grad-misplaced"), kind="gradients_cleared")
    other = a_finding("data/range-extreme", "note")
    assert further([other, first], lead([other, first])) == [other]
