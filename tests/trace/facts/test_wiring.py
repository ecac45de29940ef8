"""The wiring of parameters as a value."""

from __future__ import annotations

from debugtracer.trace.facts.wiring import Wiring


def test_only_a_few_are_kept_since_each_names_every_parameter():
    assert Wiring.KEEP == 4
