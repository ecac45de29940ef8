"""Every run that can be opened has a document; what is damaged is said and costs no other panel."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from debugtracer.testing import a_trace
from debugtracer.trace.store.manifest import create_run
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.page.document import document

STORED = sorted(folder.parent for folder in (Path(__file__).parents[2] / "stored_runs").glob("*/run"))


@pytest.mark.parametrize("folder", STORED, ids=lambda folder: folder.name)
def test_runs_of_an_older_version_are_shown_whole(folder: Path) -> None:
    page = json.loads(msgspec.json.encode(document(open_trace(folder / "run"))))
    assert page["problems"] == []
    assert page["head"]["verdict"]["class"] == json.loads((folder / "report.json").read_text())["verdict"]["class"]
    assert page["focus"] == page["head"]["verdict"]["step"]


def test_an_empty_run_has_a_document(tmp_path: Path) -> None:
    page = document(open_trace(create_run(tmp_path, "run-1", ["train.py"], "dev")))
    assert (page["series"], page["marks"], page["layers"]["maps"]) == ([], [], [])
    assert page["head"]["tone"] == "unknown"


def test_a_damaged_file_is_said_and_the_rest_is_shown(tmp_path: Path) -> None:
    run = a_trace(tmp_path, exit_code=0, stopped=False)
    (series,) = (run / "rank=0").glob("series-*.parquet")
    series.write_bytes(series.read_bytes()[:40])
    page = document(open_trace(run))
    assert any("series-" in problem for problem in page["problems"])
    assert page["head"] is not None
    (run / "run.json").write_text("{")
    damaged = document(open_trace(run))["problems"]
    assert len([problem for problem in damaged if "run.json is damaged" in problem]) == 1
    assert len([problem for problem in damaged if "series-" in problem]) == 1
