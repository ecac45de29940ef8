from __future__ import annotations

from debugtracer.checks.device.host_sync import HostSync
from debugtracer.trace.facts.devices import HostSyncs, Waiting
from tests.checks.windows import LOADER, ref, told


def found(*counts: int):
    memories: dict = {}
    facts = [
        HostSyncs(ref=ref(n), count=count, at=(Waiting(function="item", frame=LOADER, count=count),))
        for n, count in enumerate(counts)
    ]
    return [finding for fact in facts for finding in HostSync().judge(told(fact, memories=memories))]


def test_many_reads_in_two_steps():
    (one,) = found(34, 34, 34)
    assert one.severity == "note"
    assert one.message == (
        "step 1, rank 0: 34 calls of this step wait for the device (item, train.py:20: 34 times); expected at most 5. "
        "Read numbers every few steps."
    )


def test_a_logging_step_is_silent():
    assert found(2, 40, 2) == []
