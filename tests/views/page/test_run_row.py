"""A run as one row: what the first line of its report says, short."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from debugtracer.testing import a_trace
from debugtracer.trace.store.manifest import create_run
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.page.run_row import LONGEST, run_row

STORED = sorted(folder.parent for folder in (Path(__file__).parents[2] / "stored_runs").glob("*/run"))


@pytest.mark.parametrize("folder", STORED, ids=lambda folder: folder.name)
def test_a_run_with_a_verdict_names_class_and_place(folder: Path) -> None:
    row = run_row(open_trace(folder / "run"))
    verdict = json.loads((folder / "report.json").read_text())["verdict"]
    assert row["class"] == (verdict["class"] or "").replace("_", " ")
    assert row["place"] == (f"{verdict['file']}:{verdict['line']}" if verdict["file"] else "")
    assert row["tone"] == "bad" and 0 < len(row["line"]) <= LONGEST


def test_a_healthy_run_and_an_empty_one_say_how_far_they_came(tmp_path: Path) -> None:
    healthy = run_row(open_trace(a_trace(tmp_path, exit_code=0, stopped=False)))
    assert healthy["line"] == "49 steps (49 backward calls) on 1 rank: every loss, gradient and update was finite"
    assert (healthy["tone"], healthy["class"], healthy["steps"]) == ("good", "", 49)
    empty = run_row(open_trace(create_run(tmp_path, "empty", ["train.py", "--lr", "1"], "dev")))
    assert (empty["tone"], empty["steps"], empty["command"]) == ("unknown", 0, "train.py --lr 1")
