"""Equal units as a value."""

from __future__ import annotations

from debugtracer.trace.facts.equal_units import EqualUnits
from debugtracer.trace.step import StepRef


def test_a_parameter_is_its_key():
    assert (
        EqualUnits(ref=StepRef(iteration=0, step=0), param="a.weight", module="a", shape=(4, 3), units=4).key()
        == "a.weight"
    )
