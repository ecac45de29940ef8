"""Entries that hold one array, as a value."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.stored_alias import StoredAlias
from tests.checks.optimizer.seen import at, line


def alias(entries: int, container: str = "Buffer.data") -> StoredAlias:
    return StoredAlias(
        ref=at(0), container=container, places=("0", "3"), entries=entries, held_by="Walk.state", root="Linear",
        rows=64, distinct=12, frame=line(17), write_frame=line(21), called=line(57),
    )  # fmt: skip


def test_it_survives_json_and_a_container_is_told_once():
    assert from_plain(alias(9).word(), to_plain(alias(9))) == alias(9)
    assert alias(9).key() == alias(10).key() != alias(9, "states").key()
