"""Records of a run."""

from __future__ import annotations

from debugtracer.spikes.record import Record


def test_how_many_times_larger_than_all_before():
    record = Record()
    assert [record.push(v) for v in (2.0, 4.0, -8.0, 4.0)] == [0.0, 2.0, 2.0, 0.5]


def test_after_zeros_nothing_can_be_said():
    record = Record()
    assert [record.push(v) for v in (0.0, 3.0, 6.0)] == [0.0, 0.0, 2.0]
