"""Results are kept by day and kind, with the commit at their head, and the newest of a kind is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.faults.scoring import part

kept, stamp = part("kept"), part("stamp")


def test_a_result_is_kept_with_its_day_and_commit_and_found_again(tmp_path: Path) -> None:
    values = {"summary": "well", "runs": [{"name": "a", "loud": []}, {"name": "b", "loud": ["x"]}], "none": []}
    path = kept.keep("false-alarms", values, tmp_path)
    assert path.name == f"{stamp.stamp()['date']}-false-alarms.json"
    assert json.loads(path.read_text()) == stamp.stamp() | values
    assert '  {"name": "a", "loud": []},\n' in path.read_text()  # a row in a line: what changes can be read in a diff
    assert kept.newest("false-alarms", tmp_path) == kept.Kept(path, stamp.stamp() | values)


def test_the_newest_day_wins_and_another_kind_is_not_taken(tmp_path: Path) -> None:
    for name in ("2026-11-20-loops", "2026-11-21-loops", "2026-11-22-other-loops"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"date": name[:10], "commit": "2dbca09"}))
    found = kept.newest("loops", tmp_path)
    assert found.path.name == "2026-11-21-loops.json"
    assert found.measured == "2026-11-21 at 2dbca09"


def test_each_kind_gives_its_newest(tmp_path: Path) -> None:
    for name in ("2026-11-20-overhead-mlp-cpu", "2026-11-21-overhead-mlp-cpu", "2026-11-20-overhead-convnet-cpu"):
        (tmp_path / f"{name}.json").write_text("{}")
    assert [found.path.name for found in kept.newest_of_each("overhead", tmp_path)] == [
        "2026-11-20-overhead-convnet-cpu.json",
        "2026-11-21-overhead-mlp-cpu.json",
    ]


def test_a_kind_that_was_never_measured_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"DATE-loops\.json - no such result"):
        kept.newest("loops", tmp_path)


def test_every_kept_result_has_a_day_and_a_commit() -> None:
    bare = []
    for path in kept.RESULTS.glob("*.json"):
        whole = json.loads(path.read_text())
        rows = whole.get("rows", []) if isinstance(whole, dict) else []
        if isinstance(whole, dict) and not (
            {"date", "commit"} <= set(whole) or (rows and all("commit" in row for row in rows))
        ):
            bare.append(path.name)
    assert bare == ["2026-11-21-score.json"]  # of a format that nothing reads any more
