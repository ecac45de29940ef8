"""Stored calls of `diagnosis/` are answered as they were (tests/calls/README.md)."""

from __future__ import annotations

from tests.calls import differing, files
from tests.each import each


@each("path", files("diagnosis"), of=lambda path: path.name)
def test_a_stored_call_is_answered_as_before(path) -> None:
    found = differing(path)
    assert not found, "\n".join([*found[:5], "meant? python -m tests.calls --write"])
