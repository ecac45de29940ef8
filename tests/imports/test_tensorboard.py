"""TensorBoard event files."""

from __future__ import annotations

import sys

import pytest

from debugtracer.errors import TraceError, UsageError
from debugtracer.imports.tensorboard import TensorBoard
from tests.imports.logs import events

pytest.importorskip("tensorboard")


def test_scalars_old_and_new_come_under_our_names_and_nothing_else(tmp_path):
    log = TensorBoard().read(events(tmp_path, [0.75, 0.5]))
    assert log.points == {
        50: {"loss": 0.75},
        100: {"loss": 0.5, "val_loss": pytest.approx(0.9), "logged/accuracy": 0.25},
    }


def test_files_of_one_folder_are_one_run(tmp_path):
    events(tmp_path / "run", [0.75])
    events(tmp_path / "run", [0.5, 0.25])
    assert [values["loss"] for values in TensorBoard().read(tmp_path).points.values()] == [0.5, 0.25]


def test_several_runs_are_named_and_none_is_guessed(tmp_path):
    for name in ("a", "b"):
        events(tmp_path / "runs" / name, [0.5])
    with pytest.raises(UsageError, match=r"holds event files of 2 runs; give one of them: .*/runs/a, .*/runs/b"):
        TensorBoard().read(tmp_path)


def test_a_torn_file_is_read_up_to_the_tear(tmp_path):
    file = next(events(tmp_path, [0.75] * 20).iterdir())
    file.write_bytes(file.read_bytes()[:500])
    assert 1 <= len(TensorBoard().read(file).points) < 20


def test_a_file_that_is_none_is_one_sentence(tmp_path):
    (tmp_path / "events.out.tfevents.1").write_bytes(b"hello" * 50)
    with pytest.raises(TraceError, match=r"holds no logged number|is damaged"):
        TensorBoard().read(tmp_path)


def test_without_the_library_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard.backend.event_processing.event_file_loader", None)
    with pytest.raises(UsageError, match=r"needs the package tensorboard; `pip install tensorboard`"):
        TensorBoard().read(events(tmp_path, [0.5]))
