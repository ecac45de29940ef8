"""A trial of weights as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.loss_comparison import LossComparison
from debugtracer.trace.step import StepRef


def a_trial(step: int = 40) -> LossComparison:
    return LossComparison(ref=StepRef(iteration=step, step=step), earlier_step=8, batches=3, now=2.5, earlier=0.5)


def test_it_survives_json():
    plain = msgspec.json.decode(msgspec.json.encode(to_plain(a_trial())))
    assert from_plain(LossComparison.word(), plain) == a_trial()


def test_each_step_is_news():
    assert a_trial().key() != a_trial(41).key()
