"""The schedule is stepped, sized or monitored wrongly."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.testing import a_birth, evidence_of, some_facts
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.schedule import RateMoved
from debugtracer.trace.step import StepRef
from tests.causes.listening import guess, hears, is_silent, told

SET = Frame("/home/someone/train.py", 72, "<lambda>", "sched = LambdaLR(opt, lambda n: np.power(1 - n / 90, 0.9))")
RATE = RateMoved(
    ref=StepRef(iteration=48, step=48), optimizer=0, kind="Adam", frame=None, built=0.02, now="NaN", before=3e-4,
    after="NaN", step=48, scheduler="LambdaLR", scheduler_frame=SET, undefined="NaN",
)  # fmt: skip


def test_hears_lr_zero():
    finding = told("optimizer/lr-zero")
    evidence = hears("scheduler-misuse", finding)
    assert evidence.leading == finding
    assert evidence.exact is True
    assert evidence.remedies[0].startswith("print the factor of the ")


def test_what_else_was_seen_counts():
    finding = guess(told("optimizer/lr-zero"))
    alone = hears("scheduler-misuse", finding).confidence
    assert hears("scheduler-misuse", finding, told("optimizer/no-update")).confidence > alone
    assert hears("scheduler-misuse", finding, told("optimizer/lr-jump")).confidence == alone  # the same family


def test_is_silent_without_a_finding_of_its_class():
    assert is_silent("scheduler-misuse", told("data/loader-bound"), told("optimizer/lr-jump"))


@pytest.mark.parametrize(
    "birth",
    [
        a_birth("aten::addcdiv", direction="update"),
        a_birth(None, kind="input", direction="input", input_name="parameter 0.weight"),
        None,
    ],
    ids=["the update", "the weights after it", "unknown"],
)
def test_a_rate_that_is_no_number_is_proof_where_the_weights_are_bad(birth):
    evidence = evidence_of("scheduler-misuse", some_facts(birth, symptom="bad_update", rate=RATE))
    assert evidence is not None
    assert evidence.exact
    assert evidence.place is not None
    assert evidence.place.frame == SET
    assert evidence.because == (
        "the learning rate of Adam is NaN, after 0.0003 one update before, set by LambdaLR at train.py:72: it makes "
        "every weight non-finite"
    )


def test_what_was_born_elsewhere_and_a_rate_that_only_moved_are_none():
    forward = a_birth("aten::log")
    batch = a_birth(None, kind="input", direction="input", input_name="batch[0]")
    moved = msgspec.structs.replace(RATE, undefined="", now=10.0)
    for birth, rate in ((forward, RATE), (batch, RATE), (a_birth("aten::add", direction="update"), moved)):
        assert evidence_of("scheduler-misuse", some_facts(birth, rate=rate)) is None
