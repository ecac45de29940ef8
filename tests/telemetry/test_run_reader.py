"""A run is read as it grows: numbers are the last ones, events and sampled steps are given out once."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from debugtracer.telemetry.reading import Reading
from debugtracer.telemetry.run_reader import SAMPLED_STEPS, RunReader, mean, timed
from debugtracer.trace.events import Acted
from tests.telemetry.runs import AT, LiveRun, ended_run, noteworthy


def values(reading: Reading) -> dict[tuple[str, ...], float]:
    return {(one.word, *one.labels.values()): one.value for one in reading.samples}


def test_what_a_run_that_is_over_comes_to(tmp_path: Path) -> None:
    reader = RunReader(ended_run(tmp_path))
    found = values(reader.read())
    assert found["run_status", "ended"] == 1 and found["run_status", "running"] == 0
    assert found["steps", "0"] == 49 and found["loss", "0"] == pytest.approx(1 / 49)
    assert found["incidents", "0", "nan_loss", "labels-all-ignored"] == 1
    assert (
        found["findings", "0", "numerics/nan-loss", "error"] == found["findings", "0", "data/blank-sample", "note"] == 1
    )
    assert found["actions", "0", "skip-update"] == 1 and found["failures", "0"] == 3
    again = reader.read()
    assert values(again) == found and again.events == () and again.steps == ()


def test_a_run_that_is_written_is_followed(tmp_path: Path) -> None:
    live = LiveRun(tmp_path)
    reader = RunReader(live.path)
    assert reader.read().run == "live"
    live.train(250, loss=2.0)
    first = reader.read()
    assert (first.mode, first.status, first.ranks) == ("prod", "running", 1)
    assert values(first)["steps", "0"] == 250 and values(first)["step_seconds", "0"] == pytest.approx(0.01)
    assert [one.step for one in first.steps] == [200, 100, 0]
    newest = first.steps[0]
    assert newest.end_s - newest.begin_s == pytest.approx(0.01, rel=1e-3) and newest.numbers["loss"] == 2.0
    live.train(60, loss=math.nan)
    live.tell(*noteworthy()[3:4], Acted(at=AT, action="pause", iteration=1, step=1, reason="asked"))
    second = reader.read()
    assert [one.step for one in second.steps] == [300] and math.isnan(values(second)["loss", "0"])
    assert [event.action for event in second.events if isinstance(event, Acted)] == ["skip-update", "pause"]
    assert second.status == "paused" and reader.read().events == ()


def test_steps_end_where_the_next_one_begins() -> None:
    spent = dict.fromkeys(range(SAMPLED_STEPS - 1, SAMPLED_STEPS + 3), 0.5)
    ((step, begin_s, end_s, _),) = timed({"step_s": spent}, written_at=100.0)
    assert (step, begin_s, end_s) == (SAMPLED_STEPS, 98.5, 99.0)
    assert math.isnan(mean([math.nan])) and mean([1.0, math.inf, 3.0]) == 2.0
