"""The trace is valid JSON of trace events: slices in order, counters, marks where a value is not finite."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from debugtracer.exports.perfetto import Perfetto
from debugtracer.testing import a_finding
from debugtracer.trace.events import Found
from debugtracer.trace.store.manifest import create_run
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.writer import TraceWriter


def test_steps_are_slices_series_counters_and_what_is_bad_a_mark(tmp_path: Path) -> None:
    writer = TraceWriter(create_run(tmp_path, "run-1", ["train.py"], "dev"), 0)
    for step in range(3):
        writer.point(step, {"step_s": 2.0, "wait_s": 0.5, "loss": math.nan if step == 2 else 1.0})
    writer.event(Found(at=1.0, rank=0, finding=a_finding()))
    writer.close()
    path = Perfetto().write(open_trace(tmp_path), tmp_path)
    events = json.loads(path.read_text(), parse_constant=pytest.fail)["traceEvents"]
    slices = [(e["name"], e["ts"], e["dur"]) for e in events if e["ph"] == "X"]
    assert slices == [("step 0", 0.0, 2e6), ("step 1", 2e6, 2e6), ("step 2", 4e6, 2e6)]
    assert [(e["ts"], e["args"]["value"]) for e in events if e["ph"] == "C" and e["name"] == "loss"] == [
        (2e6, 1.0),
        (4e6, 1.0),
    ]
    marks = {e["name"]: e["ts"] for e in events if e["ph"] == "i"}
    assert marks == {"loss is nan at step 2": 6e6, "error: numerics/nan-loss": 6e6}
