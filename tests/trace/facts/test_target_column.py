"""A telling column as a value."""

from __future__ import annotations

from debugtracer.trace.facts.target_column import TargetColumn
from debugtracer.trace.step import StepRef


def test_a_column_is_its_key():
    assert TargetColumn(ref=StepRef(iteration=0, step=0), column=3, columns=5, rows=8, looks=1, equal=True).key() == 3
