"""Which weights a loss that rose is compared with; the trial itself: tests/replay/trials/test_weight_comparison.py."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

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
