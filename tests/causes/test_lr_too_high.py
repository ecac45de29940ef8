"""Growth until the range ends."""

from __future__ import annotations

import pytest

from debugtracer.causes.cause import causes
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.testing import TRAIN, a_birth, a_tensor, evidence_of, some_facts
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.schedule import RateMoved
from debugtracer.trace.incident import OptimizerFacts
from debugtracer.trace.step import StepRef

OVERFLOW = a_birth("aten::addmm", a_tensor(1e30), output=a_tensor(inf=8), kind="overflow")
GROWING = {"loss": [1.0, 1.1, 30.0, 900.0]}


def test_fires_after_a_loss_that_grew():
    evidence = evidence_of("lr-too-high", some_facts(OVERFLOW, recent=GROWING))
    assert evidence is not None
    assert evidence.because == "values grew 818-fold in the last steps until addmm overflowed (lr = 0.001)"


def test_a_gradient_that_grew_far_more_speaks_against_it():
    evidence = evidence_of("lr-too-high", some_facts(OVERFLOW, recent={**GROWING, "grad_l2": [1.0, 1.0, 1.0, 1e9]}))
    assert evidence is not None
    assert evidence.against == ("gradients grew far more than the loss",)


def test_stays_silent_on_a_calm_run_and_in_float16():
    assert evidence_of("lr-too-high", some_facts(OVERFLOW)) is None
    assert (
        evidence_of(
            "lr-too-high",
            some_facts(a_birth("aten::mm", output=a_tensor(inf=1, dtype="float16"), kind="overflow"), recent=GROWING),
        )
        is None
    )


BUILT = Frame(TRAIN, 70, "main", "opt = SGD(model.parameters(), lr=0.02)")
SET = Frame(TRAIN, 72, "main", "sched = LambdaLR(opt, warm)")


def rated(now, scheduler, built=0.02):
    ref = StepRef(iteration=48, step=48)
    rate = RateMoved(
        ref=ref,
        optimizer=0,
        frame=BUILT,
        built=built,
        now=now,
        before=0.02,
        after=now,
        step=45,
        scheduler=scheduler,
        scheduler_frame=SET if scheduler else None,
    )
    return some_facts(OVERFLOW, recent=GROWING, rate=rate, optimizer=OptimizerFacts(kind="SGD", frame=BUILT, lr=now))


@pytest.mark.parametrize(
    ("scheduler", "by"), [("LambdaLR", "set by LambdaLR at train.py:72"), ("", "set by the program")]
)
def test_a_rate_that_something_raised_is_told_and_the_constructor_is_left_alone(scheduler, by):
    facts = rated(20.0, scheduler)
    evidence = evidence_of("lr-too-high", facts)
    assert evidence is not None
    assert f"(lr = 20, built with 0.02: 0.02 -> 20 at step 45, {by})" in evidence.because
    assert "0.02 to 20 at step 45" in evidence.remedies[0]
    assert evidence.place is not None
    assert evidence.place.frame == (SET if scheduler else None)
    assert causes()["lr-too-high"].change(IncidentEvidence(facts), BUILT) is None


def test_a_scheduler_below_the_rate_of_the_constructor_multiplies_it_so_that_may_be_edited():
    facts = rated(0.01, "StepLR")
    evidence = evidence_of("lr-too-high", facts)
    assert evidence is not None
    assert evidence.place is None
    change = causes()["lr-too-high"].change(IncidentEvidence(facts), BUILT)
    assert change is not None
    assert "lr=0.002" in change.after[0]


def test_tenfold_growth_is_the_least_and_an_update_needs_none():
    def told(birth=OVERFLOW, **recent):
        return evidence_of("lr-too-high", some_facts(birth, recent=recent))

    assert told(loss=[1.0, 1.0, 10.0]) is not None
    assert told(loss=[1.0, 1.0, 9.9]) is None
    assert told(param_l2=[1.0, 1.0, 10.0]) is not None
    assert told(a_birth("aten::add", output=a_tensor(inf=1), kind="overflow", direction="update")) is not None
    assert told(a_birth("aten::sub", output=a_tensor(inf=1), kind="inf-inf"), loss=[1.0, 1.0, 10.0]) is not None
    assert told(a_birth("aten::log", output=a_tensor(neginf=1), kind="domain"), loss=[1.0, 1.0, 10.0]) is None
    assert told(a_birth("aten::sub", output=a_tensor(nan=1), kind="inf-inf"), loss=[1.0, 1.0, 10.0]) is None
    assert evidence_of("lr-too-high", some_facts(None, recent=GROWING)) is None


def test_what_speaks_against_it_makes_it_unsure():
    def confidence(birth=OVERFLOW, **recent):
        return evidence_of("lr-too-high", some_facts(birth, recent=recent)).confidence

    grown = [1.0, 1.0, 10.0]
    assert confidence(loss=grown) == 0.72
    assert confidence(loss=grown, grad_l2=[1.0, 1.0, 1000.0]) == 0.72  # a hundred times as much, not more
    assert confidence(loss=grown, grad_l2=[1.0, 1.0, 1001.0]) == 0.5
    few = a_birth("aten::addmm", output=a_tensor(inf=8), kind="overflow", rows=(3,))
    assert confidence(few, loss=grown) == 0.5
    assert evidence_of("lr-too-high", some_facts(few, recent={"loss": grown})).against == (
        "only a few rows of the batch overflow",
    )


def test_without_a_known_rate_none_is_named_and_the_line_that_says_it_is_the_place():
    nothing = evidence_of("lr-too-high", some_facts(OVERFLOW, recent=GROWING, optimizer=None))
    assert nothing.because.endswith("until addmm overflowed")
    assert nothing.place is None
    said = OptimizerFacts(kind="SGD", lr=0.5, frame=BUILT, lr_frame=SET)
    place = evidence_of("lr-too-high", some_facts(OVERFLOW, recent=GROWING, optimizer=said)).place
    assert (place.frame, place.module) == (SET, "blocks.0.attn")
