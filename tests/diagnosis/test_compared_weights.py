"""Which weights a loss that rose is compared with; the trial itself: tests/replay/trials/test_weight_comparison.py."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from debugtracer.diagnosis import compared_weights
from debugtracer.diagnosis.compared_weights import weights_before
from debugtracer.errors import ReplayRefused
from debugtracer.recorder.state.step_history import Snapshot


def a_ring(best: Snapshot | None, *held: Snapshot, off: str = "") -> Any:
    return SimpleNamespace(best=best, held=held, pinned=None, off=off, fits=lambda snapshot: True)


def test_the_lowest_loss_from_before_the_step_is_taken():
    low, late, unknown = Snapshot(step=8, level=0.5), Snapshot(step=90, level=0.1), Snapshot(step=16, level=math.inf)
    assert weights_before(a_ring(low, unknown, late), 40) is low
    assert weights_before(a_ring(low, unknown, late), 90) is late


def test_none_from_before_is_a_refusal():
    with pytest.raises(ReplayRefused, match="no weights from before step 4"):
        weights_before(a_ring(None, Snapshot(step=8)), 4)
    with pytest.raises(ReplayRefused, match="too dear"):
        weights_before(a_ring(None, off="too dear"), 4)


@pytest.mark.parametrize(("now", "known"), [(2.5, True), (2.007, False)])
def test_the_very_same_loss_of_other_weights_is_no_answer(monkeypatch, now, known):
    monkeypatch.setattr(compared_weights, "losses", lambda *_: (now, 2.007))
    ring: Any = a_ring(Snapshot(step=25, level=0.5))
    ring.tapes = [SimpleNamespace()]
    finding: Any = SimpleNamespace(step=79, iteration=79, rank=0)
    answer = compared_weights.compared(finding, ring, SimpleNamespace())
    assert (not answer.refused) is known
    assert known or answer.refused == "the weights of step 25 and of now give the very same loss"
