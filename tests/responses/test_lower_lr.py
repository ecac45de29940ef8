"""A rate is lowered where that was chosen, and is the program's own again where it did not help."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.errors import StoppedByTracer
from tests.responses.chosen import BAD, go
from tests.responses.loops import Loop, actions, given, sgd
from tests.watching import same_bits


def test_a_rate_that_is_lowered_halves_the_next_update(tmp_path: Path) -> None:
    lowered = go(tmp_path / "a", given(BAD + 2, (BAD,)), "data-nonfinite=lower-lr")
    assert [a.action for a in actions(tmp_path / "a")] == ["lower-lr"]
    twin = Loop(sgd)
    batches = given(BAD + 2, (BAD,))
    twin.go(batches[:BAD])
    twin.optimizer.param_groups[0]["lr"] *= 0.5
    twin.go(batches[BAD + 1 :])
    twin.optimizer.param_groups[0]["lr"] *= 2
    assert all(same_bits(a, b) for a, b in zip(lowered.state(), twin.state(), strict=True))
    assert lowered.optimizer.param_groups[0]["lr"] == twin.optimizer.param_groups[0]["lr"]


def test_one_that_did_not_help_is_undone_and_the_next_is_taken(tmp_path: Path) -> None:
    with pytest.raises(StoppedByTracer):
        go(tmp_path, given(BAD + 8, (BAD, BAD + 4)), "data-nonfinite=lower-lr")
    assert [a.action for a in actions(tmp_path)] == ["lower-lr", "undo", "stop"]
