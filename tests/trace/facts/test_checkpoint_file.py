"""Damaged files as values."""

from __future__ import annotations

from debugtracer.trace.facts.checkpoint_file import DamagedFile
from debugtracer.trace.facts.fact import from_plain, to_plain
from tests.checks.optimizer.seen import at


def test_it_survives_the_disk_and_is_known_by_its_path():
    fact = DamagedFile(
        ref=at(3), path="/d/a.pt", size_bytes=700, damaged=("a/data/0",), count=1, records=9, tensors=("weight",)
    )
    assert from_plain("checkpoint-file/DamagedFile", to_plain(fact)) == fact
    assert fact.key() == "/d/a.pt"
