"""Where a person edits."""

from __future__ import annotations

from debugtracer.spikes.lines import built_at, lines, rate_at, rise_told
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.facts.schedule import Rate
from debugtracer.trace.facts.wiring import OptimizerWiring, Wiring
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window
from tests.spikes.series import ref

BUILT, CALLED = (Frame(file="/home/someone/train.py", line=n, function="main", code="") for n in (7, 9))


def window(optimizers: int) -> Window:
    one = OptimizerWiring(kind="Adam", frame=BUILT, held=1, strangers=0)
    wiring = Wiring(ref=ref(0), params=(), optimizers=(one,) * optimizers)
    return Window(ref(0), facts={Wiring: [wiring], LossCall: [LossCall(ref=ref(0), loss="mse_loss", frame=CALLED)]})


def test_the_line_of_the_only_optimizer_and_of_the_loss():
    assert lines(window(1)) == Place(frame=BUILT, symptom_frame=CALLED)


def test_after_a_jump_of_the_rate_the_schedule_is_to_blame():
    rate = Rate(
        ref=ref(0), optimizer=0, kind="SGD", frame=BUILT, low=1.0, high=1.0, scheduler="StepLR", scheduler_frame=CALLED
    )
    known = window(1)
    facts = {**known.facts, Rate: [rate]}
    assert lines(Window(ref(0), facts=facts), lr_jump=5.0).frame == CALLED
    assert lines(Window(ref(0), facts=facts)).frame == BUILT


def test_of_several_optimizers_none_is_blamed():
    assert lines(window(2)) == Place(symptom_frame=CALLED)
    assert lines(Window(ref(0))) == Place()


def test_of_several_optimizers_the_line_of_the_rate_that_rose_is_named():
    said = Frame(file="/home/someone/train.py", line=3, function="main", code="group['lr'] = 0.5")
    rates = [
        Rate(ref=ref(8), optimizer=0, kind="Adam", frame=BUILT, low=0.5, high=0.5, before=0.002, rate_frame=said),
        Rate(ref=ref(9), optimizer=1, kind="Adam", frame=BUILT, low=0.1, high=0.1, before=0.09, rate_frame=CALLED),
    ]
    facts = {**window(2).facts, Rate: rates}
    assert lines(Window(ref(0), facts=facts), lr_jump=250.0).frame == said
    assert lines(Window(ref(0), facts=facts)).frame is None


def test_a_rate_that_stands_in_another_line_is_edited_there():
    said = Frame(file="/home/someone/train.py", line=3, function="main", code="RATE = 4.0")
    rate = Rate(ref=ref(0), optimizer=0, kind="Adam", frame=BUILT, low=4.0, high=4.0, rate_frame=said)
    facts = {**window(1).facts, Rate: [rate]}
    assert lines(Window(ref(0), facts=facts)).frame == said
    assert lines(Window(ref(0), facts=facts), rate=False).frame == BUILT
    assert rate_at(Window(ref(0), facts=facts), "Adam") == said
    assert rate_at(Window(ref(0), facts=facts), "SGD") is None
    assert rate_at(window(1), "Adam") == built_at(window(1), "Adam") == BUILT


def test_a_rise_is_told_with_both_rates_and_the_schedule():
    risen = Rate(
        ref=ref(8), optimizer=0, kind="SGD", frame=BUILT, low=2.0, high=2.0, before=0.2, scheduler="MultiStepLR",
        scheduler_frame=CALLED,
    )  # fmt: skip
    told = rise_told(Window(ref(9), facts={Rate: [risen]}), 10.0)
    assert told == "; the learning rate had just risen 10-fold, from 0.2 to 2, set by MultiStepLR at train.py:9"
    assert rise_told(Window(ref(9)), 10.0) == "; the learning rate had just risen 10-fold"  # of a log alone
    assert rise_told(Window(ref(9), facts={Rate: [risen]}), 0.0) == ""
