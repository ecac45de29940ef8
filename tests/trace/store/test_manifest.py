"""run.json and the making of run folders."""

from __future__ import annotations

import json

import pytest

from debugtracer.errors import TraceError, UsageError
from debugtracer.trace.store.manifest import create_run, default_name, end_run, read_manifest


def test_a_run_begins_as_running_and_latest_points_at_it(tmp_path):
    run = create_run(tmp_path, "a", ["train.py", "--lr", "1"], "observe")
    manifest = read_manifest(run)
    assert (manifest.id, manifest.command, manifest.mode, manifest.status, manifest.exit_code) == (
        "a",
        ("train.py", "--lr", "1"),
        "observe",
        "running",
        None,
    )
    assert (tmp_path / "latest").resolve() == run


def test_a_taken_name_gets_a_number_and_latest_moves_on(tmp_path):
    runs = [create_run(tmp_path, "a", [], "dev") for _ in range(3)]
    assert [r.name for r in runs] == ["a", "a-2", "a-3"]
    assert (tmp_path / "latest").resolve() == runs[-1]


def test_the_end_is_written_once_and_nothing_else_is_lost(tmp_path):
    run = create_run(tmp_path, "a", ["x"], "dev")
    end_run(run, 3, True)
    manifest = read_manifest(run)
    assert (manifest.status, manifest.exit_code, manifest.stopped_by_tracer, manifest.command) == (
        "ended",
        3,
        True,
        ("x",),
    )
    assert manifest.ended_at is not None and manifest.ended_at >= manifest.started_at
    assert [p.name for p in run.iterdir()] == ["run.json"]


@pytest.mark.parametrize("name", ["a/b", "..", "-x", "a b", "x" * 129])
def test_a_name_that_is_no_file_name_is_one_sentence(tmp_path, name):
    with pytest.raises(UsageError, match="expected up to 128 letters"):
        create_run(tmp_path, name, [], "dev")
    assert list(tmp_path.iterdir()) == []


def test_a_name_of_our_own_has_the_program_in_it():
    assert default_name(["torchrun", "--x", "dir/my train.py"]).endswith("-mytrain")
    assert default_name(["/bin/bash"]).endswith("-bash")
    assert default_name([]).endswith("-run")


def test_a_folder_of_the_user_s_called_latest_is_left_alone(tmp_path):
    (tmp_path / "latest").mkdir()
    create_run(tmp_path, "a", [], "dev")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "latest"]
    assert not (tmp_path / "latest").is_symlink()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is damaged"),
        ('{"id": "a"', "is damaged"),
        ('{"id": 3}', "is damaged"),
        (json.dumps({"id": "a", "version": 99}), "format version 99"),
    ],
)
def test_a_manifest_that_cannot_be_read_is_one_sentence(tmp_path, text, says):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(TraceError, match=says) as error:
        read_manifest(tmp_path)
    assert "\n" not in str(error.value)


def test_a_missing_manifest_is_one_sentence(tmp_path):
    with pytest.raises(TraceError, match="cannot be read"):
        read_manifest(tmp_path)


def test_an_end_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    run = create_run(tmp_path, "a", ["x"], "dev")

    def full(path, data):
        path.touch()
        raise OSError("full")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.raises(OSError, match="full"):
        end_run(run, 0, False)
    assert [p.name for p in run.iterdir()] == ["run.json"]
