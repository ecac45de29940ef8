"""What acts is built in modes val and prod alone, and shares its votes with the incidents."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.diagnosis.late_consensus import LateConsensus
from debugtracer.recorder.state.window_state import WindowState
from debugtracer.responses.responder import Responder
from tests.assembly.test_diagnosing import built


@pytest.mark.parametrize("mode", ["val", "prod"])
def test_the_responder_is_asked_at_every_gate(tmp_path: Path, mode: str) -> None:
    replaying, diagnosing = built(tmp_path, mode=mode)
    responder = diagnosing.responder
    assert isinstance(responder, Responder) and responder.policy.mode == mode
    assert diagnosing.gate.policy is diagnosing.events.working.policy is responder
    assert isinstance(diagnosing.gate.segments, WindowState)
    assert isinstance(diagnosing.health_gate.ranks, LateConsensus)
    assert replaying.consensus is not None and responder.ranks.vote is replaying.consensus.vote


@pytest.mark.parametrize("more", [{"mode": "observe"}, {"mode": "dev"}, {"mode": "prod", "capture": "canary"}])
def test_elsewhere_there_is_none(tmp_path: Path, more: dict[str, object]) -> None:
    replaying, diagnosing = built(tmp_path, **more)
    assert diagnosing.responder is None
    assert not isinstance(diagnosing.gate.segments, WindowState)
    assert replaying.context.ring.loop is None
