"""Whose run folder it is."""

from __future__ import annotations

import os

import pytest

from debugtracer.recorder.output.run_folder import RUN_DIR, RunFolder
from debugtracer.trace.store.reader import is_run


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    for name in ("RANK", RUN_DIR):
        monkeypatch.delenv(name, raising=False)


def test_that_of_a_supervisor_is_taken_as_it_is_and_left_to_it(tmp_path):
    folder = RunFolder(tmp_path / "given", tmp_path, "", "dev")
    assert folder.supervised
    assert folder.find() == tmp_path / "given"
    folder.leave()
    assert RUN_DIR not in os.environ
    assert folder.find() == tmp_path / "given"


def test_one_of_our_own_is_made_once_and_named_to_those_that_come_later(tmp_path):
    folder = RunFolder(None, tmp_path, "mine", "dev")
    made = folder.find()
    try:
        assert is_run(made)
        assert folder.find() == made
        assert os.environ[RUN_DIR] == str(made)
        assert not folder.supervised
    finally:
        folder.leave()
    assert RUN_DIR not in os.environ
    again = folder.find()
    folder.leave()
    assert again != made
