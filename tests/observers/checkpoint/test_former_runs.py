"""How many searches a run makes for the one that saved its weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.observers.checkpoint.former_runs import MOST, FormerRuns
from debugtracer.recorder.output.run_folder import RUN_DIR


def test_a_search_at_a_time_and_few_in_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tuesday").mkdir()
    monkeypatch.setenv(RUN_DIR, str(tmp_path / "tuesday"))
    former = FormerRuns()
    for load in range(3 * MOST):
        former.search((4, 1.5), load, load)
        running = former.running
        former.search((4, 2.5), load, load)
        assert former.running is running  # the one before is not over yet
        assert former.take() is None
    assert former.begun == MOST
    assert not former.is_over()


def test_another_run_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RUN_DIR, str(tmp_path / "tuesday"))
    former = FormerRuns()
    former.search((4, 1.5), 0, 0)
    former.reset()
    assert (former.begun, former.running, former.take()) == (0, None, None)
