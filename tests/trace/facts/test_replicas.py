"""The copy of a rank as a value."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.device.replicas import a_replica


def test_each_step_is_news():
    assert (a_replica(3).key(), a_replica(50).key()) == (3, 50)


def test_checksums_of_64_bits_survive_the_disk():
    one = a_replica(before=(2**62 + 1, -(2**63)))
    assert from_plain("replicas/Replica", to_plain(one)) == one
