"""A loss that stood out at the first batches of another dataset."""

from __future__ import annotations

import pytest

from debugtracer.spikes.other_data import other_data
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
