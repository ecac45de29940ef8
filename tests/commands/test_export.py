"""The command `debug-tracer export`."""

from __future__ import annotations

from pathlib import Path

from debugtracer.commands.app import status
from debugtracer.testing import a_trace


def test_each_format_says_what_it_wrote(tmp_path: Path, monkeypatch, capsys) -> None:
    run = a_trace(tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    assert status(["export", str(run)]) == 0
    assert capsys.readouterr().out == "run-1-csv/series.csv\n"
    assert status(["export", str(run), "--to", "perfetto", "-o", str(tmp_path / "a" / "b")]) == 0
    assert Path(capsys.readouterr().out.strip()).is_file()


def test_wrong_words_and_places_are_one_sentence(tmp_path: Path, capsys) -> None:
    run = a_trace(tmp_path / "runs")
    (tmp_path / "file").write_text("")
    assert status(["export", str(run), "--to", "xlsx"]) == 2
    assert status(["export", str(tmp_path / "none"), "-o", str(tmp_path)]) == 2
    assert status(["export", str(run), "-o", str(tmp_path / "file")]) == 2
    told = capsys.readouterr().err.splitlines()
    assert "there are csv, mlflow, perfetto, tensorboard, wandb" in told[0] and "does not exist" in told[1]
    assert "cannot be written" in told[2] and len(told) == 3
