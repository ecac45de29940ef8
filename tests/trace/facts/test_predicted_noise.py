"""Predicted noise as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.predicted_noise import PredictedNoise
from debugtracer.trace.step import StepRef


def a_noise(line: int) -> PredictedNoise:
    return PredictedNoise(
        ref=StepRef(iteration=9, step=9), draw="rand_like", mean=0.5, std=0.289, given_mean=0.0, given_std=1.0,
        count=1024, steps=3, given_frame=Frame("/p/train.py", line),
    )  # fmt: skip


def test_it_survives_json():
    fact = a_noise(43)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_each_line_that_generates_is_news():
    assert a_noise(43).key() == a_noise(43).key() != a_noise(50).key()
