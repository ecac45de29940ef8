"""A run that is looked at while it is written: only what changed is told, what is torn is no problem, gone is gone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from debugtracer.server import run_feed
from debugtracer.server.run_feed import RunFeed
from debugtracer.testing import a_finding, a_trace
from debugtracer.trace.events import Found
from debugtracer.trace.store.manifest import create_run
from debugtracer.trace.store.writer import TraceWriter
from tests.trace.facts.test_health import a_row
from tests.views.test_layers import snapshot


def test_new_points_and_findings_change_their_panels_and_no_other(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(run_feed, "SHARE", 1.0)
    run = create_run(tmp_path, "live", ["train.py"], "val")
    writer = TraceWriter(run, 0)
    feed = RunFeed(run)
    feed.look()
    empty = feed.mark
    assert json.loads(feed.since("")["series"]) == []
    assert feed.since(empty) == {}
    writer.point(0, {"loss": 2.0})
    writer.flush()
    feed.look()
    changed = feed.since(empty)
    assert json.loads(changed["series"])[0]["y"] == [2.0]
    assert not {"ops", "layers", "manifest"} & set(changed)
    points = feed.mark
    writer.event(Found(at=1.0, rank=0, finding=a_finding()), now=True)
    feed.look()
    changed = feed.since(points)
    assert json.loads(changed["marks"])[0]["name"] == "numerics/nan-loss"
    assert "series" not in changed
    writer.close()
    assert feed.state()["mode"] == "val" and feed.state()["status"] == "running"


def test_the_mark_of_another_server_is_told_everything(tmp_path: Path) -> None:
    feed = RunFeed(a_trace(tmp_path))
    feed.look()
    for mark in ("", "x", "0000-1", f"{feed.epoch}-", f"{feed.epoch}-²", f"{feed.epoch}-{'9' * 5000}"):
        assert {"series", "head", "state"} <= set(feed.since(mark))
    assert feed.since(feed.mark) == {}


def test_a_torn_line_and_a_truncated_segment_are_no_problem(tmp_path: Path) -> None:
    run = create_run(tmp_path, "live", ["train.py"], "dev")
    writer = TraceWriter(run, 0)
    for step in range(40):
        writer.point(step, {"loss": 1.0})
        writer.flush()
    (live,) = (run / "rank=0").glob("live-*.arrows")
    live.write_bytes(live.read_bytes()[:-37])
    with (run / "rank=0" / "events.jsonl").open("a") as events:
        events.write('{"type": "rank-st')
    page, text = RunFeed(run).page()
    writer.close()
    assert page["problems"] == [] and text
    assert len(page["series"][0]["x"]) >= 38


def test_a_run_that_was_deleted_is_gone_and_one_that_is_back_is_there(tmp_path: Path) -> None:
    run = a_trace(tmp_path)
    feed = RunFeed(run)
    feed.look()
    kept = tmp_path / "kept"
    shutil.move(run, kept)
    feed.look()
    assert feed.gone
    shutil.move(kept, run)
    feed.look()
    assert not feed.gone


def test_a_page_does_not_wait_for_many_snapshots_they_follow(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(run_feed, "AT_ONCE_BYTES", 10)
    run = a_trace(tmp_path, snapshot(0, a_row("fc.weight")), snapshot(9, a_row("fc.weight")))
    feed = RunFeed(run)
    page, text = feed.page()
    assert page["layers"] == {"steps": [], "maps": [], "pending": True} and page["series"] and text
    feed.look()
    changed = feed.since(page["version"])
    assert json.loads(changed["layers"])["steps"] == [0, 9]
    assert set(changed) == {"layers"}
    later = feed.mark
    feed.look()
    assert feed.since(later) == {}
    monkeypatch.undo()
    assert RunFeed(run).page()[0]["layers"]["steps"] == [0, 9]  # few are not waited for


def test_a_page_does_not_wait_for_many_ranks_they_follow(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(run_feed, "AT_ONCE_RANKS", 3)
    feed = RunFeed(a_trace(tmp_path, ranks=4))
    page, _ = feed.page()
    assert page["ranks"] == [] and page["series"]
    feed.look()
    changed = feed.since(page["version"])
    assert [row["rank"] for row in json.loads(changed["ranks"])] == [0, 1, 2, 3]
    assert set(changed) == {"ranks"}
    later = feed.mark
    feed.look()
    assert feed.since(later) == {}


def test_what_is_dear_to_read_is_read_seldom(tmp_path: Path, monkeypatch) -> None:
    run = create_run(tmp_path, "live", ["train.py"], "dev")
    writer = TraceWriter(run, 0)
    monkeypatch.setattr(run_feed, "SHARE", 1e-6)
    feed = RunFeed(run)
    feed.look()
    first = feed.mark
    writer.point(0, {"loss": 2.0})
    writer.flush()
    feed.look()
    assert feed.mark == first
    writer.close()
