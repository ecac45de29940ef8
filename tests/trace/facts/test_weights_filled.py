"""Who filled the weights, as a value."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.weights_filled import Filled, WeightsFilled
from debugtracer.trace.step import StepRef


def test_it_survives_json():
    row = Filled(param="a.weight", function="normal_", frame=Frame("train.py", 3, "main", "nn.init.normal_(a.weight)"))
    fact = WeightsFilled(ref=StepRef(iteration=0, step=0), rows=(row,))
    assert from_plain(fact.word(), to_plain(fact)) == fact
