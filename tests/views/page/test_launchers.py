"""A process that only started the ranks is told from one that trained alone."""

from __future__ import annotations

from pathlib import Path

from debugtracer.testing import AT, a_trace
from debugtracer.trace.events import Crashed, RankStarted
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.writer import TraceWriter
from debugtracer.views.page.launchers import launchers
from debugtracer.views.page.series_panel import marks


def test_the_crash_of_a_process_that_only_started_the_ranks_stands_at_no_step(tmp_path: Path) -> None:
    run = a_trace(tmp_path, ranks=2)
    launcher = TraceWriter(run, 2)
    launcher.event(RankStarted(at=AT, rank=2, pid=1, world_size=1))
    launcher.event(Crashed(at=AT, rank=2, error="ProcessExitedException", message="code 3", iteration=0, step=0))
    launcher.close()
    assert launchers(open_trace(run)) == {2}
    assert [mark for mark in marks(open_trace(run)) if mark["kind"] == "crash"] == []


def test_a_run_of_one_process_has_no_launcher(tmp_path: Path) -> None:
    run = a_trace(tmp_path, Crashed(at=AT, rank=0, error="ValueError", message="no", iteration=0, step=0))
    assert launchers(open_trace(run)) == set()
    assert [mark["name"] for mark in marks(open_trace(run)) if mark["kind"] == "crash"] == ["ValueError"]
