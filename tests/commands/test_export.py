"""The command `debug-tracer export`."""

from __future__ import annotations

import importlib
from pathlib import Path

from debugtracer.commands.app import status
from debugtracer.testing import a_trace
from debugtracer.trace.store import liveness as liveness_module

export_module = importlib.import_module("debugtracer.commands.export")


def test_each_format_says_what_it_wrote(tmp_path: Path, monkeypatch, capsys) -> None:
    run = a_trace(tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    assert status(["export", str(run)]) == 0
    assert capsys.readouterr().out == "run-1-csv/series.csv\n"
    assert status(["export", str(run), "--to", "perfetto", "-o", str(tmp_path / "a" / "b")]) == 0
    assert Path(capsys.readouterr().out.strip()).is_file()


def test_a_run_that_is_followed_is_written_until_it_ends(tmp_path: Path, monkeypatch, capsys) -> None:
    run = a_trace(tmp_path / "runs", exit_code=0, stopped=False)
    states = iter(["running", "paused", "ended"])
    monkeypatch.setattr(liveness_module, "liveness", lambda *args: liveness_module.Liveness(next(states), 0.0))
    monkeypatch.setattr(export_module, "sleep", lambda seconds: None)
    assert status(["export", str(run), "-o", str(tmp_path / "out"), "--follow"]) == 0
    assert next(states, None) is None
    rows = Path(capsys.readouterr().out.strip()).read_text().splitlines()
    assert len(rows) == len(set(rows)) > 1


def test_wrong_words_and_places_are_one_sentence(tmp_path: Path, capsys) -> None:
    run = a_trace(tmp_path / "runs")
    (tmp_path / "file").write_text("")
    assert status(["export", str(run), "--to", "xlsx"]) == 2
    assert status(["export", str(tmp_path / "none"), "-o", str(tmp_path)]) == 2
    assert status(["export", str(run), "-o", str(tmp_path / "file")]) == 2
    told = capsys.readouterr().err.splitlines()
    assert "there are csv, mlflow, perfetto, tensorboard, wandb" in told[0] and "does not exist" in told[1]
    assert "cannot be written" in told[2] and len(told) == 3
