"""A training batch as a value."""

from __future__ import annotations

from debugtracer.trace.facts.batches import BatchSeen
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.device.replicas import a_batch


def test_each_batch_is_news_and_the_first_steps_stay_in_sight():
    assert (a_batch(3).key(), a_batch(4).key()) == (3, 4)
    assert BatchSeen.KEEP == 64


def test_it_survives_the_disk_with_its_labels():
    batch = a_batch(3, labels=((0, 20), (1, 12)), width=128)
    assert from_plain("batches/BatchSeen", to_plain(batch)) == batch
