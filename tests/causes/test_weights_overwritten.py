"""A value from before the step, written into a weight by the program itself."""

from __future__ import annotations

from debugtracer.testing import a_birth, evidence_of, some_facts
from debugtracer.trace.birth import ChainLink, Frame
from debugtracer.trace.incident import WeightWrite

SLUG = "weights-overwritten"
LINE = Frame("/w/train.py", 20, "restore", "model.load_state_dict(kept)")


def facts(name, line=20, replayed=True):
    link = ChainLink(op="aten::copy_", direction="forward", file="/w/train.py", line=line, nan=1, numel=4)
    birth = a_birth(None, kind="input", direction="input", input_name=name, chain=(link,))
    return some_facts(
        birth, written=(WeightWrite(params=("0.weight", "0.bias"), op="copy_", frame=LINE, replayed=replayed),)
    )


def test_the_line_that_writes_is_named_and_needs_no_trial():
    evidence = evidence_of(SLUG, facts("a tensor made before the step"))
    assert evidence is not None
    assert (evidence.exact, evidence.place.frame, evidence.place.param) == (True, LINE, "0.weight")
    assert evidence.because == (
        "parameter 0.weight is non-finite since the program itself wrote it (copy_ at train.py:20), after the last "
        "update"
    )


def test_stays_silent_on_a_bad_batch_and_where_the_value_went_another_way():
    assert evidence_of(SLUG, facts("batch[0]")) is None
    assert evidence_of(SLUG, facts("a tensor made before the step", line=21)) is None
    assert evidence_of(SLUG, facts("a tensor made before the step", replayed=False)) is None


def test_no_sample_is_accused_then():
    assert evidence_of("data-nonfinite", facts("a tensor made before the step")) is None
    assert evidence_of("data-nonfinite", facts("a tensor made before the step", line=21)) is not None
