"""What a first layer is given, as a value."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.first_input import FirstInput
from debugtracer.trace.step import StepRef


def test_it_is_one_for_each_root_and_shape_of_a_sample():
    fact = FirstInput(
        ref=StepRef(iteration=0, step=0), root="Net", function="conv2d", shape=(16, 3, 8, 8),
        mean=126.0, std=73.0, low=0.0, high=255.0, whole=True,
    )  # fmt: skip
    assert fact.key() == ("Net", "conv2d", (3, 8, 8))
    assert from_plain(fact.word(), to_plain(fact)) == fact
