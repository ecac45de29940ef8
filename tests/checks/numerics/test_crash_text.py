"""The words of an exception as a finding."""

from __future__ import annotations

import msgspec

from debugtracer.checks.check import checks
from debugtracer.checks.numerics.crash_text import CrashText
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import IndexUsed, KnownWords, StateMade
from debugtracer.trace.facts.graph_reach import LossWithoutGraph
from debugtracer.trace.step import StepRef
from tests.checks.crashes import a_crash, seen, silent_on_another_error

WORDS = KnownWords(
    kind="loss_misuse",
    certainty=0.75,
    because="binary_cross_entropy needs probabilities and was given values outside 0..1",
    layer="model",
    remedies=("use BCEWithLogitsLoss",),
)
PLACE = {"frames": (Frame("/a/train.py", 16),), "built": Frame("/a/train.py", 12)}


def said(crash, only=None):
    judge = Judge({"numerics/crash-text": CrashText()} if only is None else only)
    return list(judge.end(StepRef(iteration=5, step=5), [crash]))


def test_the_words_the_line_and_where_the_loss_was_built():
    (finding,) = said(a_crash("all elements of input should be between 0 and 1", words=WORDS, **PLACE))
    assert finding.message == (
        "step 5, rank 0: binary_cross_entropy needs probabilities and was given values outside 0..1 (train.py:16); "
        "the loss is built at train.py:12; expected a call that does not raise. Use BCEWithLogitsLoss."
    )
    assert (finding.kind, finding.layer, finding.confidence, finding.exact) == ("loss_misuse", "model", 0.75, False)
    assert finding.place.frame == PLACE["built"]
    assert finding.place.symptom_frame == PLACE["frames"][0]


def test_an_index_is_told_at_the_line_that_made_it_with_the_sample_that_was_being_made():
    words = KnownWords(kind="index_out_of_range", certainty=0.7, because="the index 8 was used", layer="data")
    index = IndexUsed(text="steps", made=(Frame("/a/data.py", 30), Frame("/a/data.py", 9)))
    (finding,) = said(a_crash("index 8 is out of bounds", words=words, index=index, sample=5, frames=PLACE["frames"]))
    assert "was used (train.py:16) for sample 5, made at data.py:30 -> data.py:9; expected" in finding.message
    assert (finding.place.frame, finding.place.symptom_frame) == (index.made[0], PLACE["frames"][0])
    assert finding.place.sample_index == (5,)
    (other,) = said(a_crash("all elements", words=WORDS, index=index, sample=5, frames=PLACE["frames"]))
    assert (other.place.frame, other.place.sample_index) == (PLACE["frames"][0], None)


def test_the_state_of_a_recurrent_layer_is_told_at_the_line_that_made_or_keeps_it():
    words = KnownWords(kind="shape_mismatch", certainty=0.9, because="the layer was given 8 rows", layer="model")
    made = StateMade(frame=Frame("/a/reader.py", 89))
    (finding,) = said(a_crash("Expected hidden size", words=words, state=made, frames=PLACE["frames"]))
    assert "was given 8 rows (train.py:16); the state is made (reader.py:89); expected" in finding.message
    assert (finding.place.frame, finding.place.symptom_frame) == (made.frame, PLACE["frames"][0])
    kept = msgspec.structs.replace(made, kept=True)
    (finding,) = said(a_crash("Expected hidden size", words=words, state=kept, frames=PLACE["frames"]))
    assert "the state of the batch before is kept (reader.py:89)" in finding.message
    assert finding.remedy[0].startswith("set the state back (to None) where new rows begin")


def test_unsure_words_and_no_words_say_nothing():
    assert said(a_crash("x", words=msgspec.structs.replace(WORDS, certainty=0.4))) == []
    silent_on_another_error(CrashText())


def test_values_that_were_bad_before_are_the_cause_and_the_words_their_consequence():
    bad = (seen("target", 4), seen("input", 4, nonfinite=3))
    (finding,) = said(a_crash("all elements of input should be between 0 and 1", words=WORDS, tensors=bad))
    assert finding.kind is None
    assert "input holds 3 values that are NaN or Inf" in finding.message
    assert finding.place.frame is not None


def test_words_that_do_not_say_why_are_a_symptom():
    (finding,) = said(a_crash("Loss is nan, stopping", words=msgspec.structs.replace(WORDS, kind="")))
    assert finding.kind is None


def test_a_check_that_has_read_the_tensors_speaks_alone():
    words = shapes()
    crash = a_crash("mat1 and mat2 shapes cannot be multiplied (3x2 and 4x3)", "RuntimeError", words=words)
    assert [f.check for f in said(crash, checks())] == ["model/shape-mismatch"]


def shapes() -> KnownWords:
    return KnownWords(kind="shape_mismatch", certainty=0.9, because="two matrices do not fit", layer="model")


def test_a_model_that_is_frozen_whole_is_told_by_its_own_check():
    words = msgspec.structs.replace(WORDS, kind="detached_graph")
    crash = a_crash("element 0 of tensors does not require grad", words=words, **PLACE)
    ref = StepRef(iteration=5, step=5)
    frozen = LossWithoutGraph(ref=ref, leaf=False, frozen=4, model="Net")
    assert [f.check for f in Judge(checks()).end(ref, [frozen, crash])] == ["model/all-frozen"]
