"""Half-precision weights of an optimizer."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.half_weights import HalfWeights
from debugtracer.trace.step import StepRef


def half(optimizer: str = "AdamW") -> HalfWeights:
    """Cast in train.py."""
    cast = Frame("/p/train.py", 9, "main", "model = Net().bfloat16()")
    return HalfWeights(ref=StepRef(iteration=0, step=0), optimizer=optimizer, cast=cast)


def test_each_kind_of_optimizer_is_a_fact_of_its_own() -> None:
    assert half().key() == half().key() != half("SGD").key()
