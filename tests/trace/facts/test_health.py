"""The health snapshot as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.health import Health, ParamDynamics, TensorHealth
from debugtracer.trace.step import StepRef


def a_row(name: str, **more: object) -> TensorHealth:
    known = {
        "role": "weight",
        "shape": (2, 3),
        "dtype": "float32",
        "sampled": 6,
        "mean": 0.0,
        "std": 1.0,
        "low": -1.0,
        "high": 1.0,
        "l2": 2.0,
        "zero_share": 0.0,
    }
    return TensorHealth(name=name, **{**known, **more})


def test_it_survives_json_with_what_is_not_finite():
    fact = Health(
        ref=StepRef(iteration=1, step=1),
        tensors=(a_row("w", l2="NaN"),),
        params=(ParamDynamics(name="w", numel=6, dtype="float32", optimizer="SGD", lr=0.1, weight_l2="Infinity"),),
    )
    assert from_plain("health/Health", msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_rows_are_found_by_role_and_name():
    fact = Health(ref=StepRef(iteration=1, step=1), tensors=(a_row("w"), a_row("w", role="gradient", l2=9.0)))
    assert fact.of("gradient")["w"].l2 == 9.0
    assert fact.of("activation") == {}
