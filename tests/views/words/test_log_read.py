"""What was read of a log that others wrote."""

from __future__ import annotations

import math

from debugtracer.checks.selection import select
from debugtracer.diagnosis.judging.recheck import recheck
from debugtracer.imports.importer import Log
from debugtracer.imports.run_folder import import_run
from debugtracer.testing import a_trace
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.json_report import report
from debugtracer.views.markdown import Markdown
from debugtracer.views.terminal import Terminal
from debugtracer.views.words.log_read import log_read


def imported(tmp_path, losses):
    points = {500 * n: {"loss": loss, "logged/accuracy": 0.5} for n, loss in enumerate(losses, 1)}
    log = Log(tmp_path / "checkpoint-9" / "trainer_state.json", "Hugging Face trainer_state.json", points)
    return open_trace(import_run(log, tmp_path / "runs", lambda trace: recheck(trace, select())))


def words(trace):
    return " ".join(Terminal().render(trace).split())


def test_a_short_log_says_what_was_read_and_who_needs_more(tmp_path):
    trace = imported(tmp_path, [2.0 / (1 + n) ** 0.3 for n in range(59)])
    text = words(trace)
    assert (
        "59 rows of the log read, steps 500..29500: every logged number is finite; too few rows for loss-oscillation, "
        "loss-spike"
    ) in text
    assert (
        "short too few rows for loss-oscillation (144 values), loss-spike (65 values): their silence means nothing here"
        in text
    )
    assert "read 59 rows of the log read, steps 500..29500; values: accuracy 59, loss 59" in text
    assert "data not measurable: the log holds only accuracy, loss" in text
    assert "backward call" not in text and "update was finite" not in text
    assert "- **read** 59 rows" in Markdown().render(trace)


def test_for_machines_it_is_part_of_the_run(tmp_path):
    run = report(imported(tmp_path, [2.0 / (1 + n) ** 0.3 for n in range(70)]))["run"]
    assert (run["iterations"], run["log"]["rows"], run["log"]["series"]) == (0, 70, {"accuracy": 70, "loss": 70})
    assert run["log"]["too_short_for"] == {"optimizer/loss-oscillation": 144}


def test_a_number_that_is_not_finite_and_belongs_to_no_check_is_said(tmp_path):
    points = {n: {"logged/accuracy": math.nan if n == 30 else 0.5} for n in range(10, 60, 10)}
    log = Log(tmp_path / "x.csv", "CSV", points)
    trace = open_trace(import_run(log, tmp_path / "runs", lambda trace: recheck(trace, select())))
    assert "not every logged number is finite (accuracy at step 30)" in words(trace)


def test_a_watched_run_is_no_log(tmp_path):
    trace = open_trace(a_trace(tmp_path))
    assert log_read(trace) is None
    assert "log" not in report(trace)["run"]
