"""Norms over some steps as a value; they are no news to be judged."""

from __future__ import annotations

import math

from debugtracer.trace.facts.layer_norms import LayerNorms
from debugtracer.trace.step import StepRef


def some_norms(*steps: int, role: str = "gradient", names: tuple[str, ...] = ("fc.weight", "fc.bias")) -> LayerNorms:
    """Of step N the first tensor has the norm N, the next one N + 0.5, ..."""
    rows = tuple(tuple(step + 0.5 * n for n in range(len(names))) for step in steps)
    return LayerNorms(ref=StepRef(iteration=1, step=1), role=role, names=names, steps=steps, values=rows)  # type: ignore[arg-type]


def test_a_row_is_a_step_and_what_is_not_finite_stays_so() -> None:
    fact = some_norms(3, 4)
    assert fact.values == ((3.0, 3.5), (4.0, 4.5))
    bad = LayerNorms(ref=fact.ref, role="weight", names=("w",), steps=(1,), values=((math.inf,),))
    assert bad.values[0][0] == math.inf
