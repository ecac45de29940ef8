"""A loss that stood out at the first batches of another dataset."""

from __future__ import annotations

import pytest

from debugtracer.spikes.other_data import other_data, other_start
from debugtracer.trace.facts.new_training import NewTraining
from debugtracer.trace.facts.outlying_batch import OutlyingBatch
from tests.checks.windows import ref, told


@pytest.mark.parametrize(
    ("step", "other", "expected"), [(80, True, True), (77, True, True), (76, True, False), (80, False, False)]
)
def test_it_is_near_the_first_batches_of_another_dataset(step, other, expected):
    fact = OutlyingBatch(ref=ref(80), loss=2.0, indices=(1, 2), frame=None, backward=None, other_data=other)
    assert other_data(told(fact), step) is expected


def test_nothing_is_known_without_a_batch():
    assert not other_data(told(), 80)


@pytest.mark.parametrize(
    ("count", "before", "why", "expected"),
    [(3, 10, "parameters", True), (2, 10, "parameters", False), (3, 400, "parameters", False), (3, 10, "load", False)],
)
def test_networks_that_are_trained_for_a_few_updates_have_no_start_in_common(count, before, why, expected):
    facts = [NewTraining(ref=ref(20 * n), why=why, before=before) for n in range(count)]
    assert other_start(told(*facts)) is expected
