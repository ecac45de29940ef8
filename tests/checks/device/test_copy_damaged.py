"""Copies that lose data."""

from __future__ import annotations

from debugtracer.checks.device.copy_damaged import CopyDamaged
from debugtracer.trace.facts.damaged_copy import DamagedCopy
from tests.checks.optimizer.seen import at, found, line


def test_a_copy_that_is_not_what_was_copied_is_an_error():
    fact = DamagedCopy(
        ref=at(0), function="to", source="cuda:0", target="cuda:1", elements=4096, different=4096, zeros=4096,
        frame=line(31),
    )  # fmt: skip
    (one,) = found(CopyDamaged(), [fact])
    assert (one.severity, one.kind, one.exact, one.place.frame) == ("error", "silent_data_corruption", True, line(31))
    assert one.message == (
        "step 0, rank 0: 4096 of 4096 elements that `to` copied from cuda:0 to cuda:1 (train.py:31) are not what was "
        "copied, 4096 of them 0; expected the same bits. Turn peer-to-peer copies off and test the machine."
    )


def test_nothing_is_said_without_a_fact():
    assert found(CopyDamaged(), []) == []
