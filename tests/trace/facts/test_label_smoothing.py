"""What label smoothing does, as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.label_smoothing import LabelSmoothing, Smoothed
from debugtracer.trace.step import StepRef


def test_it_survives_json():
    row = Smoothed(epsilon=0.1, target_kl=0.09, gradient_variance=0.5)
    fact = LabelSmoothing(
        ref=StepRef(iteration=0, step=0),
        classes=5,
        rows=8,
        used=0.1,
        closed=1,
        table=(row,),
        top_probability=0.4,
        accuracy=0.5,
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
