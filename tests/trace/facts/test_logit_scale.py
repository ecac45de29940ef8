"""The size of logits as a value."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.logit_scale import LogitScale
from debugtracer.trace.step import StepRef


def test_it_survives_json_and_is_one_line():
    fact = LogitScale(ref=StepRef(iteration=0, step=0), classes=3, rows=8, log_z="Infinity", gap=1.0, loss=2.0)
    assert from_plain(fact.word(), to_plain(fact)) == fact
    assert fact.key() is None
