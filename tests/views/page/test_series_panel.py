"""A short series is shown whole, a long one in bins with every value around the focus."""

from __future__ import annotations

import math
from pathlib import Path

from debugtracer.testing import AT, a_finding, a_trace
from debugtracer.trace.events import Acted, Found
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.writer import TraceWriter
from debugtracer.views.page.series_panel import BINS, CLOSE, WHOLE, marks, series_panel, short


def test_a_short_series_is_whole_and_the_loss_is_first(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "run", 0)
    for step in range(5):
        writer.point(step, {"aux": 1.0, "loss": math.nan if step == 3 else 0.5})
    writer.close()
    lines = series_panel(open_trace(tmp_path / "run"), 0, None)
    assert [line["name"] for line in lines] == ["loss", "aux"]
    assert (lines[0]["x"], lines[0]["y"]) == ([0, 1, 2, 3, 4], [0.5, 0.5, 0.5, "NaN", 0.5])


def test_a_long_series_has_bins_and_every_value_at_the_focus(tmp_path: Path) -> None:
    writer, steps, focus = TraceWriter(tmp_path / "run", 0), 5 * WHOLE, 4 * WHOLE
    for step in range(steps):
        writer.point(step, {"loss": math.inf if step == focus else 1.0 + step % 2})
    writer.close()
    (line,) = series_panel(open_trace(tmp_path / "run"), 0, focus)
    assert len(line["x"]) <= BINS + 2 * CLOSE + 1
    assert line["x"] == sorted(set(line["x"]))
    close = [n for n, x in enumerate(line["x"]) if abs(x - focus) <= CLOSE]
    assert len(close) >= 2 * CLOSE
    assert line["y"][line["x"].index(focus)] == "Infinity"
    assert (line["lo"][0], line["y"][0], line["hi"][0]) == (1.0, 1.5, 2.0)


def test_marks_are_findings_and_actions_by_step(tmp_path: Path) -> None:
    acted = Acted(at=AT, action="skip-update", iteration=7, step=7, reason="the gradient is not finite")
    note = a_finding("data/all-masked", "note", 2, "step 2, rank 0: empty")
    told = marks(open_trace(a_trace(tmp_path, acted, Found(at=AT, finding=note))))
    assert [(m["step"], m["kind"], m["name"]) for m in told] == [
        (2, "note", "data/all-masked"),
        (7, "action", "skip-update"),
    ]


def test_numbers_are_short_and_survive_json() -> None:
    assert [short(v) for v in (None, math.nan, -math.inf, 1 / 3)] == [None, "NaN", "-Infinity", 0.333333]
