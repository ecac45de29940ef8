"""Gains under decay."""

from __future__ import annotations

import math
from typing import Any

import pytest

from debugtracer.checks.optimizer.decayed_gains import DecayedGains
from debugtracer.trace.facts.effects import DecayedGains as Gains
from tests.checks.optimizer.seen import at, found, line


def gains(size: float, factor: float, updates: int = 0, **more: Any) -> Gains:
    return Gains(
        ref=at(200),
        optimizer=0,
        kind="AdamW",
        frame=line(40),
        params=("norm.weight",),
        count=4,
        decay=0.5,
        factor=factor,
        size=size,
        updates=updates,
        **more,
    )


def test_gains_that_decay_alone_has_emptied():
    (finding,) = found(DecayedGains(), [gains(0.05, 0.04)])
    assert finding.message == (
        "step 200, rank 0: the gains of 4 normalisation layers (norm.weight, ...) are 0.05 of what they were, decay "
        "0.5 of AdamW (train.py:40) alone makes "
        "0.04; expected gains that the loss decides. Give them weight_decay=0."
    )
    assert (finding.kind, finding.severity, finding.place.frame) == ("weight_decay_on_norms", "warning", line(40))


def test_gains_seen_late_that_the_loss_pushed_down_after_decay_had_emptied_them():
    assert [f.severity for f in found(DecayedGains(), [gains(1e-4, 0.06)])] == ["warning"]
    assert found(DecayedGains(), [gains(1e-4, 0.2)]) == []


def test_half_of_them_is_a_note():
    assert [f.severity for f in found(DecayedGains(), [gains(0.3, 0.25)])] == ["note"]


@pytest.mark.parametrize(("size", "factor"), [(0.9, 0.5), (0.4, math.exp(-10)), (0.05, 0.999), (1.2, 0.1)])
def test_gains_that_the_loss_holds_are_healthy(size: float, factor: float):
    assert found(DecayedGains(), [gains(size, factor)]) == []


def test_a_decay_no_recipe_has_is_a_warning_before_the_gains_are_gone():
    assert [f.severity for f in found(DecayedGains(), [gains(0.61, 0.55, 100)])] == ["warning"]
    assert found(DecayedGains(), [gains(0.61, 0.55, 1000)]) == []  # 0.06 % an update
    assert found(DecayedGains(), [gains(0.8, 0.75, 100)]) == []


def test_a_group_that_spares_nothing():
    (finding,) = found(
        DecayedGains(), [gains(0.99, 0.99, 2, spared=0, group_frame=line(11)), gains(0.9, 0.9, spared=0)]
    )
    assert "AdamW (train.py:40) with weight_decay=0 holds no parameter, and the gains of 4 norm" in finding.message
    assert (finding.severity, finding.place.frame, finding.place.symptom_frame) == ("warning", line(11), line(40))
    assert found(DecayedGains(), [gains(0.99, 0.99, 2, spared=1)]) == []
