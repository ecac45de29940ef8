"""The contract of importers and how a path finds its own."""

from __future__ import annotations

import pytest

from debugtracer.errors import TraceError
from debugtracer.imports.importer import importer_of, importers, numbered
from debugtracer.imports.trainer_state import TrainerStateJson
from tests.imports.logs import events, lightning_csv, trainer_state


def test_those_that_need_a_library_are_asked_last():
    assert list(importers()) == ["lightning-csv", "trainer-state", "tensorboard"]


def test_each_log_is_recognised_by_its_own_importer_as_file_and_as_folder(tmp_path):
    state, table, board = (
        trainer_state(tmp_path / "a", [1.0]),
        lightning_csv(tmp_path / "b", [1.0]),
        events(tmp_path / "c", [1.0]),
    )
    for path in (state, state.parent):
        assert isinstance(importer_of(path), TrainerStateJson)
    for path in (table / "metrics.csv", table):
        assert importer_of(path) is importers()["lightning-csv"]
    for path in (board, next(board.iterdir()), tmp_path):
        assert importer_of(path) is not None
    assert importer_of(board) is importers()["tensorboard"]


def test_the_output_folder_of_a_trainer_is_read_from_its_state_and_not_from_its_event_files(tmp_path):
    trainer_state(tmp_path / "checkpoint-900", [1.0])
    events(tmp_path / "runs" / "today", [1.0])
    assert isinstance(importer_of(tmp_path), TrainerStateJson)


def test_anything_else_is_recognised_by_nobody(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    assert importer_of(tmp_path) is None
    assert importer_of(tmp_path / "notes.txt") is None


def test_a_number_logged_twice_at_a_step_is_the_last_one_and_points_are_in_order(tmp_path):
    log = TrainerStateJson().log(
        tmp_path, [(10, "loss", 2.0), (5, "loss", 1.0), (10, "loss", 3.0), (-1, "loss", 9.0), (10**20, "loss", 9.0)]
    )
    assert log.points == {5: {"loss": 1.0}, 10: {"loss": 3.0}}
    assert list(log.points) == [5, 10]


def test_a_log_without_numbers_is_one_sentence(tmp_path):
    with pytest.raises(
        TraceError,
        match=r"holds no logged number; expected a Hugging Face trainer_state\.json of a run that has logged something",
    ):
        TrainerStateJson().log(tmp_path, [(1, "epoch", 0.5)])


def test_numbers_in_names_are_counted_as_numbers(tmp_path):
    names = ["checkpoint-1000", "checkpoint-900", "last"]
    assert sorted(names, key=lambda n: numbered(tmp_path / n)) == ["last", "checkpoint-900", "checkpoint-1000"]
