"""Mixtures whose targets changed places."""

from __future__ import annotations

from typing import Any

from debugtracer.checks.data.mix_swapped import MixSwapped
from debugtracer.trace.facts.mixed_targets import MixedTargets
from tests.checks.optimizer.seen import at, found, line


def mixed(step: int, own: float = 0.9, target: float = 0.1, **more: Any) -> MixedTargets:
    return MixedTargets(
        ref=at(step), frame=line(77), mixed=line(70), own=own, other=1 - own, target_own=target,
        target_other=1 - target, **more,
    )  # fmt: skip


def test_exchanged_factors_are_told_once_at_the_line_of_the_targets():
    (finding,) = found(MixSwapped(), [mixed(step) for step in range(4)])
    assert (finding.severity, finding.kind, finding.step) == ("warning", "targets_misaligned", 1)
    assert (finding.place.frame, finding.place.symptom_frame) == (line(77), line(70))
    assert finding.message == (
        "step 1, rank 0: rows are mixed as 0.9 of their own and 0.1 of permuted ones (train.py:70), and their targets "
        "as 0.1 of their own and 0.9 of permuted ones (train.py:77), in 2 of 2 steps; expected the same factors. "
        "Exchange the two targets."
    )


def test_one_step_or_one_as_it_should_be_is_silent():
    assert found(MixSwapped(), [mixed(0)]) == []
    assert found(MixSwapped(), [mixed(0, target=0.9), *(mixed(step) for step in range(1, 5))]) == []


def test_factors_that_are_nearly_alike_or_other_ones_say_nothing():
    assert found(MixSwapped(), [mixed(step, own=0.51, target=0.49) for step in range(4)]) == []
    assert found(MixSwapped(), [mixed(step, target=0.3) for step in range(4)]) == []
