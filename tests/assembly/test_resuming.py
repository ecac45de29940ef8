"""What goes on from a saved state is built where it is asked for, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.assembly.resuming import saved_state
from debugtracer.errors import DebugTracerError
from debugtracer.recorder.resume.resumption import Resumption
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
