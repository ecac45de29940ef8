"""No target counts: how sure each sight of it is, and where the fix goes."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.causes.labels_all_ignored import classes
from debugtracer.testing import a_birth, a_tensor, evidence_of, some_facts
from debugtracer.trace.birth import Frame
from tests.causes.test_labels_all_ignored import SLUG, nll

CUT = Frame("/home/someone/project/data.py", 12)


def divided(*, ignored="all labels of batch[1] are -100", op="aten::div", over=0.0, by=0.0):
    facts = some_facts(
        a_birth(op, a_tensor(over, shape=()), a_tensor(by, shape=()), kind="0/0", output=a_tensor(shape=(), nan=1))
    )
    return msgspec.structs.replace(facts, ignored=ignored)


def test_a_sum_of_nothing_that_is_divided_by_its_count_is_exact():
    evidence = evidence_of(SLUG, divided())
    assert (evidence.confidence, evidence.exact, evidence.whole_batch) == (0.97, True, True)
    assert len(evidence.remedies) == 2 and "divides a sum of nothing by 0" in evidence.because


@pytest.mark.parametrize("differs", [{"ignored": ""}, {"op": "aten::mul"}, {"over": 1.0}, {"by": 2.0}])
def test_another_division_is_not_told_of(differs):
    assert evidence_of(SLUG, divided(**differs)) is None


@pytest.mark.parametrize(
    ("target", "exact", "confidence"), [(-1.0, True, 0.97), (0.0, False, 0.85), (8.0, False, 0.85), (9.0, True, 0.97)]
)
def test_a_class_that_is_none_is_exact_and_one_that_may_be_is_likely(target, exact, confidence):
    evidence = evidence_of(SLUG, nll(target))
    assert (evidence.exact, evidence.confidence) == (exact, confidence)


def test_weights_of_classes_may_be_the_reason_as_well():
    assert evidence_of(SLUG, nll(3.0, weight=(0.0, 1.0))).confidence == 0.6


@pytest.mark.parametrize("bad", ["nan", "posinf"])
def test_scores_that_are_bad_themselves_are_the_reason(bad):
    facts = nll(-100.0)
    scores = msgspec.structs.replace(facts.birth.inputs[0], **{bad: 1})
    birth = msgspec.structs.replace(facts.birth, inputs=(scores, *facts.birth.inputs[1:]))
    assert evidence_of(SLUG, msgspec.structs.replace(facts, birth=birth)) is None


def told(*, cut=None, ignored="", library=False):
    facts = nll(-100.0)
    birth = facts.birth
    if library:
        birth = msgspec.structs.replace(birth, library=Frame("/env/site-packages/trans/loss.py", 36))
    made = (Frame("/home/someone/project/labels.py", 4),)
    return evidence_of(SLUG, msgspec.structs.replace(facts, birth=birth, cut=cut, ignored=ignored, made=made))


def test_the_fix_goes_to_the_cut_else_to_a_call_of_the_programs_own():
    assert told(cut=CUT).place.frame == CUT and "cut at data.py:12" in told(cut=CUT).because
    assert told().place is None and told(ignored="all are -100").place is None and told(library=True).place is None
    assert told(ignored="all are -100", library=True).place is not None


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [((), float("inf")), (((),), float("inf")), (((7,),), 7.0), (((2, 7),), 7.0), (((2, 7, 3),), 7.0)],
)
def test_the_classes_are_the_second_dimension(shapes, expected):
    assert classes([a_tensor(shape=shape) for shape in shapes]) == expected
