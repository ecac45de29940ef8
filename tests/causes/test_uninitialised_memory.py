"""torch.empty was read."""

from __future__ import annotations

from debugtracer.testing import a_birth, evidence_of, some_facts


def test_fires_on_a_read_of_unfilled_memory():
    assert evidence_of("uninitialised-memory", some_facts(a_birth("aten::mm", kind="uninitialised"))) is not None


def test_stays_silent_on_anything_else_and_without_a_birth():
    assert evidence_of("uninitialised-memory", some_facts(a_birth("aten::mm", kind="overflow"))) is None
    assert evidence_of("uninitialised-memory", some_facts(None)) is None
