"""Only the compiled code shows the fault."""

from __future__ import annotations

import msgspec

from debugtracer.testing import a_birth, evidence_of, some_facts
from debugtracer.trace.birth import Frame
from debugtracer.trace.incident import ReplayFacts


def replayed(**fields):
    replay = ReplayFacts(mechanism="tape", reproduced=True, parity="bitwise", **fields)
    return msgspec.structs.replace(some_facts(None), replay=replay)


def test_fires_where_the_eager_step_is_finite_and_points_at_the_call_that_compiled():
    evidence = evidence_of(
        "compiled-differs", replayed(compiled_only=True, compiled_at=Frame("train.py", 34, "main", ""))
    )
    assert (
        evidence is not None
        and evidence.place is not None
        and evidence.place.frame is not None
        and evidence.place.frame.line == 34
    )
    assert evidence.because == "the compiled step shows it again, and the same step executed eagerly is finite"


def test_stays_silent_on_eager_faults():
    assert evidence_of("compiled-differs", replayed()) is None
    assert evidence_of("compiled-differs", some_facts(a_birth("aten::mm", kind="overflow"))) is None
