"""The list: every run of the folder, nothing else of the disk, a damaged run says so."""

from __future__ import annotations

from pathlib import Path

from debugtracer.server import runs as module
from debugtracer.server.runs import Runs
from debugtracer.testing import a_finding, a_trace
from debugtracer.trace.events import Found
from debugtracer.trace.store.manifest import create_run


def test_a_folder_of_runs_is_listed_with_first_lines(tmp_path: Path) -> None:
    a_trace(tmp_path, Found(at=1.0, rank=0, finding=a_finding()))
    create_run(tmp_path, "starting", ["train.py"], "dev")
    rows = {row["id"]: row for row in Runs(tmp_path).rows()}
    assert set(rows) == {"run-1", "starting"}
    assert (rows["run-1"]["status"], rows["run-1"]["steps"]) == ("ended", 49)
    assert rows["starting"]["status"] == "running"


def test_an_empty_folder_and_one_that_is_not_there_yet_have_no_runs(tmp_path: Path) -> None:
    later = Runs(tmp_path / "later")
    assert (Runs(tmp_path).rows(), later.rows()) == ([], [])
    create_run(tmp_path / "later", "run-1", ["train.py"], "dev")
    assert [row["id"] for row in later.rows()] == ["run-1"]


def test_no_name_leads_out_of_the_folder(tmp_path: Path) -> None:
    a_trace(tmp_path / "outside")
    inside = tmp_path / "inside"
    run = a_trace(inside)
    (inside / "link").symlink_to(tmp_path / "outside" / "run-1")
    served = Runs(inside)
    assert served.names() == ["run-1"] and served.find("run-1") == run
    for name in ("link", "latest", "../outside/run-1", "..", ".", "", "run-1/", "run-1/rank=0", str(run), "run-1\0"):
        assert served.find(name) is None


def test_one_run_alone_has_its_own_name_only(tmp_path: Path) -> None:
    run = a_trace(tmp_path)
    create_run(tmp_path, "other", ["train.py"], "dev")
    alone = Runs(run)
    assert alone.alone and alone.names() == ["run-1"]
    assert alone.find("run-1") == run and alone.find("other") is None


def test_a_damaged_run_is_a_row_that_says_so(tmp_path: Path) -> None:
    (a_trace(tmp_path) / "run.json").write_text("{")
    (row,) = Runs(tmp_path).rows()
    assert "run.json is damaged" in row["line"] and row["tone"] == "unknown"


def test_a_long_list_is_read_bit_by_bit(tmp_path: Path, monkeypatch) -> None:
    for name in ("a", "b", "c"):
        create_run(tmp_path, name, ["train.py"], "dev")
    monkeypatch.setattr(module, "LOOK_S", -1.0)
    served = Runs(tmp_path)
    assert [row.get("pending") for row in served.rows()] == [True] * 3
    monkeypatch.setattr(module, "LOOK_S", 10.0)
    assert [row.get("pending") for row in served.rows()] == [None] * 3


def test_what_did_not_change_is_not_read_again(tmp_path: Path, monkeypatch) -> None:
    a_trace(tmp_path)
    served = Runs(tmp_path)
    first = served.rows()
    monkeypatch.setattr(module, "read_row", None)
    assert served.rows() == first
