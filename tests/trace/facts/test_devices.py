"""Devices and waits as values."""

from __future__ import annotations

from debugtracer.trace.facts.devices import Devices, HostSyncs, Waiting
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.windows import LOADER, ref


def test_devices_are_told_when_they_change_and_waits_each_inspected_step():
    assert Devices(ref=ref(), counts=(("cpu", 2),), few=("a",)).key() is None
    syncs = HostSyncs(ref=ref(3), count=2, at=(Waiting(function="item", frame=LOADER, count=2),))
    assert syncs.key() == 3
    assert from_plain("devices/HostSyncs", to_plain(syncs)) == syncs
