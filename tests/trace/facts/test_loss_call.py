"""A loss call as a value."""

from __future__ import annotations

from debugtracer.testing import TRAIN
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.loss_call import LossCall, Maker
from debugtracer.trace.step import StepRef


def test_calls_of_one_line_share_a_key_and_a_call_survives_json():
    frame = Frame(TRAIN, 16, "forward", "return softmax(x)")
    call = LossCall(
        ref=StepRef(iteration=3, step=3),
        loss="cross_entropy",
        frame=frame,
        classes=10,
        maker=Maker(function="softmax", frame=frame),
    )
    assert call.key() == LossCall(ref=StepRef(iteration=9, step=9), loss="cross_entropy", frame=frame).key()
    assert from_plain("loss-call/LossCall", to_plain(call)) == call
