"""Each rank with its pace, its loss and its first bad step."""

from __future__ import annotations

import math
from pathlib import Path

from debugtracer.testing import AT, a_trace, an_incident, some_facts
from debugtracer.trace.events import RankStarted
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.writer import TraceWriter
from debugtracer.views.page import ranks_panel as ranks_panel_module
from debugtracer.views.page.ranks_panel import ranks_panel
from debugtracer.views.page.still_trace import StillTrace


def test_each_rank_has_a_row_with_its_loss(tmp_path: Path) -> None:
    rows = ranks_panel(open_trace(a_trace(tmp_path, ranks=3)))
    assert [(row["rank"], row["steps"], row["ended"], row["first_bad"]) for row in rows] == [
        (n, 49, True, None) for n in range(3)
    ]
    assert rows[0]["loss"]["y"][0] == 1.0


def test_the_first_bad_step_and_the_mean_time_are_of_the_series(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "run", 0)
    for step in range(4):
        writer.point(step, {"loss": math.nan if step == 2 else 1.0, "step_s": 0.25})
    writer.close()
    (row,) = ranks_panel(open_trace(tmp_path / "run"))
    assert (row["first_bad"], row["series"], row["step_s"]) == (2, "loss", 0.25)
    assert row["loss"]["y"] == [1.0, 1.0, "NaN", 1.0]


def test_a_process_that_only_started_the_ranks_is_none(tmp_path: Path) -> None:
    run = a_trace(tmp_path, ranks=2)
    launcher = TraceWriter(run, 2)
    launcher.event(RankStarted(at=AT, rank=2, pid=1, world_size=1))
    launcher.close()
    assert [row["rank"] for row in ranks_panel(open_trace(run))] == [0, 1]


def test_a_rank_that_was_killed_counts_the_steps_of_its_series(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "run", 0)
    for step in range(5):
        writer.point(step, {"loss": 1.0})
    writer.close()
    (row,) = ranks_panel(open_trace(tmp_path / "run"))
    assert (row["steps"], row["ended"]) == (4, False)


def test_of_very_many_ranks_those_that_broke_are_shown(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(ranks_panel_module, "MOST_RANKS", 4)
    run = a_trace(tmp_path, an_incident(some_facts(rank=5), None, None), ranks=9)
    with_nan = TraceWriter(tmp_path / "other", 7)
    with_nan.point(60, {"val": math.inf})
    with_nan.close()
    (sealed,) = (tmp_path / "other" / "rank=7").glob("series-*.parquet")
    sealed.rename(run / "rank=7" / "series-000099.parquet")
    shown = [row["rank"] for row in ranks_panel(StillTrace(open_trace(run)))]
    assert {5, 7} < set(shown) and len(shown) == 4
