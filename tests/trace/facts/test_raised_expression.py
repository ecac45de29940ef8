"""The fact of the expression that raised."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.raised_expression import ElementSeen, RaisedExpression, SqueezedBatch
from debugtracer.trace.step import StepRef

PLAIN = RaisedExpression(
    ref=StepRef(iteration=2, step=2), error="KeyError", message="'x'", text="ids[w]", frame=Frame("/a/train.py", 4)
)


def test_it_is_read_back_from_json():
    assert from_plain(RaisedExpression.word(), to_plain(PLAIN)) == PLAIN


def test_the_row_is_the_sample_else_the_element():
    element = ElementSeen("lines", 5, 6)
    assert PLAIN.row is None
    assert RaisedExpression(**{**fields(), "element": element}).row == 5
    assert RaisedExpression(**{**fields(), "element": element, "sample": 0}).row == 0


def fields():
    return {name: getattr(PLAIN, name) for name in PLAIN.__struct_fields__}


def test_a_squeezed_batch_is_read_back_from_json():
    lost = SqueezedBatch(ref=PLAIN.ref, name="x", given=(1, 6), usual=(64, 6), lost=0, frame=None, symptom=PLAIN.frame)
    assert from_plain("raised-expression/SqueezedBatch", to_plain(lost)) == lost
