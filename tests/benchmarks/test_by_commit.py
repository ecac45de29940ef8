"""Results of one day are kept by commit: a row is added to its commit, and those of other commits stay."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))
from benchmarks import by_commit


def test_a_row_is_added_to_its_commit_and_others_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def at(commit: str, name: str, row: dict[str, Any], setting: str = "") -> Path:
        monkeypatch.setattr(by_commit, "stamp", lambda: {"date": "2026-11-22"})
        monkeypatch.setattr(by_commit, "measured_commit", lambda: commit)
        return by_commit.add_row("steps", name, row, setting, tmp_path)

    at("aaaaaaa", "mlp", {"ratio": 4})
    at("aaaaaaa", "cnn", {"ratio": 2})
    at("bbbbbbb", "mlp", {"ratio": 1})
    path = at("bbbbbbb", "mlp", {"ratio": 3}, "cost 1")
    kept = json.loads(path.read_text())
    assert path.name == "2026-11-22-steps.json"
    assert (kept["date"], kept["commit"]) == ("2026-11-22", "bbbbbbb")
    assert {key: result["rows"] for key, result in kept["results"].items()} == {
        "aaaaaaa": {"mlp": {"ratio": 4}, "cnn": {"ratio": 2}},
        "bbbbbbb": {"mlp": {"ratio": 1}},
        "bbbbbbb, cost 1": {"mlp": {"ratio": 3}},
    }


def test_the_file_of_a_new_day_takes_over_what_was_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_commit, "measured_commit", lambda: "aaaaaaa")
    for day, name in (("2026-11-22", "mlp"), ("2026-11-23", "cnn")):
        monkeypatch.setattr(by_commit, "stamp", lambda day=day: {"date": day})
        path = by_commit.add_row("steps", name, {"ratio": 1}, folder=tmp_path)
    assert path.name == "2026-11-23-steps.json"
    assert list(by_commit.load(path)["results"]["aaaaaaa"]["rows"]) == ["mlp", "cnn"]


def test_the_machine_is_told_with_its_torch() -> None:
    assert "cores, Python 3" in by_commit.machine()
    assert "torch 2" in by_commit.machine()
