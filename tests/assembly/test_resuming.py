"""What goes on from a saved state is built where it is asked for, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from torch import nn

from debugtracer.assembly.resuming import saved_state
from debugtracer.errors import DebugTracerError
from debugtracer.recorder.output.last_good import LastGood
from debugtracer.recorder.resume.resumption import Resumption
from debugtracer.recorder.run_state import RunState
from tests.assembly.test_diagnosing import built


def test_it_hears_of_passes_in_every_mode(tmp_path: Path) -> None:
    replaying, _ = built(tmp_path, mode="observe", resume=tmp_path / "last-good", lr_scale=0.5)
    (found,) = [hook for hook in replaying.hooks.hooks if isinstance(hook, Resumption)]
    assert found.options.lr_scale == 0.5 and found in found.passes.listeners


def test_without_the_setting_there_is_none(tmp_path: Path) -> None:
    replaying, _ = built(tmp_path, mode="prod")
    assert not [hook for hook in replaying.hooks.hooks if isinstance(hook, Resumption)]


def test_a_state_that_is_gone_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(DebugTracerError, match="no whole state of rank 0 at step 3"):
        saved_state(tmp_path, 3)


def test_another_number_of_ranks_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their data would be shared out in another way: some would come twice, some never."""
    for rank in (0, 1):
        state = RunState()
        state.roots.add(nn.Linear(2, 1), None)
        state.step = 3
        LastGood(state).write(tmp_path, rank, [])
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert saved_state(tmp_path / "last-good", 3)["step"] == 3
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(DebugTracerError, match=r"holds the state of 2 ranks and 3 ranks train now.*start .* with 2"):
        saved_state(tmp_path / "last-good", 3)
    monkeypatch.delenv("RANK")
    with pytest.raises(DebugTracerError, match="of 2 ranks and 1 rank train"):
        saved_state(tmp_path / "last-good", 3)
