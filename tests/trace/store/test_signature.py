"""The signature changes with whatever a reader of the run would see, and with nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.testing import a_trace
from debugtracer.trace.store.signature import signature_of


def test_it_changes_with_what_is_read_and_only_then(tmp_path: Path) -> None:
    run = a_trace(tmp_path)
    first = signature_of(run)
    (run / "control").write_text("pause")
    (run / "notes.txt").write_text("mine")
    assert signature_of(run) == first
    with (run / "rank=0" / "events.jsonl").open("a") as file:
        file.write("\n")
    second = signature_of(run)
    assert second != first
    (run / "rank=1").mkdir()
    (run / "rank=1" / "events.jsonl").touch()
    assert signature_of(run) != second


def test_a_folder_that_is_gone_raises_and_one_without_a_run_has_none(tmp_path: Path) -> None:
    assert signature_of(tmp_path) == ()
    with pytest.raises(OSError, match="gone"):
        signature_of(tmp_path / "gone")
