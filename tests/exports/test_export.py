"""What every export is given: series, norms of each tensor, the clock of the steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.exports.export import clock_of, ending_of, exports, rows_of, second_of, series_of
from debugtracer.exports.progress import Progress
from debugtracer.trace.store.manifest import create_run
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.writer import TraceWriter

STORED = Path(__file__).parents[1] / "stored_runs" / "nan_gradient" / "run"


def test_the_folder_is_the_registry() -> None:
    assert sorted(exports()) == ["csv", "mlflow", "perfetto", "tensorboard", "wandb"]


def test_series_and_the_norm_of_each_tensor_are_there() -> None:
    trace = open_trace(STORED)
    found = {name: (steps, values) for name, steps, values in series_of(trace, 0)}
    assert found["loss"] == trace.series("loss", 0)
    layers = [name for name in found if name.startswith("gradient/")]
    assert layers and all(steps == sorted(set(steps)) for steps, _ in found.values())


def test_the_clock_adds_steps_whose_waits_are_part_of_them(tmp_path: Path) -> None:
    writer = TraceWriter(create_run(tmp_path, "run-1", ["train.py"], "dev"), 0)
    for step in range(3):
        writer.point(step, {"step_s": float("nan") if step == 1 else 2.0, "wait_s": 0.5})
    writer.close()
    assert clock_of(open_trace(tmp_path), 0) == pytest.approx({0: 2.0, 1: 2.0, 2: 4.0})


def test_a_step_without_a_time_has_that_of_the_last_one_before_it() -> None:
    clock = {0: 2.5, 1: 4.5, 4: 7.0}
    assert [second_of(clock, step) for step in (0, 1, 3, 4, 9)] == [2.5, 4.5, 4.5, 7.0, 7.0]
    assert second_of({}, 3) == second_of({5: 1.0}, 3) == 0.0


def test_a_snapshot_waits_for_the_numbers_of_its_step_while_the_run_is_followed() -> None:
    trace = open_trace(STORED)
    early = Progress(over=False)
    early.last = {(0, name): 0 for name in trace.names(0)}  # as if nothing behind step 0 were on disk
    trace.series = lambda *_: ([], [])  # type: ignore[method-assign]
    assert {step for _, steps, _ in series_of(trace, 0, early) for step in steps} == {0}
    assert {step for _, steps, _ in series_of(trace, 0, Progress()) for step in steps} > {0}


def test_the_rows_are_the_series_step_by_step_and_the_ending_names_the_verdict() -> None:
    trace = open_trace(STORED)
    rows = list(rows_of(trace, 0))
    assert [step for step, _ in rows] == sorted({step for _, steps, _ in series_of(trace, 0) for step in steps})
    assert [values["loss"] for _, values in rows if "loss" in values] == trace.series("loss", 0)[1]
    ending = ending_of(trace)
    assert ending["exit_code"] == "3" and ":" in ending["verdict_line"]
    assert ending["verdict"] and ending["verdict_class"]
