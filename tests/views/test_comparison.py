"""Two runs side by side: where their numbers part, bit for bit; what was set differently; never an exception."""

from __future__ import annotations

import math
from pathlib import Path

from debugtracer.diagnosis.proof.rank import rank
from debugtracer.testing import a_masked_row, a_trace, an_incident
from debugtracer.trace.store.manifest import create_run
from debugtracer.trace.store.reader import Trace, open_trace
from debugtracer.trace.store.writer import TraceWriter
from debugtracer.views.comparison import comparison


def a_run(folder: Path, name: str, **series: list[float]) -> Trace:
    run = create_run(folder, name, ["train.py", name], "dev")
    writer = TraceWriter(run, 0)
    for word, values in series.items():
        for step, value in enumerate(values):
            writer.point(step, {word: value})
    writer.close()
    return Trace(run)


def test_runs_part_where_the_first_number_does_not_where_a_person_sees_it(tmp_path: Path) -> None:
    left = a_run(tmp_path, "left", loss=[1.0, 0.5, 0.25, 0.2], grad_l2=[1.0, 1.0, 1.0, 1.0])
    right = a_run(tmp_path, "right", loss=[1.0, 0.5001, 0.3, 0.2, 0.1], grad_l2=[1.0, 1.0, 1.0, 1.0, 1.0])
    told = comparison(left, right)
    loss, norm = told["series"]
    assert (loss["name"], norm["name"]) == ("loss", "grad_l2")
    assert loss["first"] == {"step": 1, "left": 0.5, "right": 0.5001}
    assert loss["apart"] == {"step": 2, "left": 0.25, "right": 0.3}
    assert (norm["first"], norm["apart"], norm["shared"]) == (None, None, 4)
    assert told["headline"] == "left and right part at step 1: loss 0.5 and 0.5001"
    assert [[row["id"], len(row_lines["x"])] for row, row_lines in zip(told["runs"], loss["lines"], strict=True)] == [
        ["left", 4],
        ["right", 5],
    ]


def test_what_is_not_finite_in_both_is_the_same_and_in_one_is_far_apart(tmp_path: Path) -> None:
    left = a_run(tmp_path, "left", loss=[1.0, math.nan, math.inf])
    assert comparison(left, a_run(tmp_path, "same", loss=[1.0, math.nan, math.inf]))["first"] is None
    told = comparison(left, a_run(tmp_path, "other", loss=[1.0, math.nan, -math.inf]))
    assert told["first"] == {"step": 2, "left": "Infinity", "right": "-Infinity", "name": "loss"}
    assert comparison(left, a_run(tmp_path, "finite", loss=[1.0, 2.0]))["series"][0]["apart"]["step"] == 1


def test_times_are_shown_but_never_part(tmp_path: Path) -> None:
    told = comparison(a_run(tmp_path, "a", step_s=[0.1, 0.2]), a_run(tmp_path, "b", step_s=[0.3, 0.4]))
    (times,) = told["series"]
    assert (times["name"], times["first"], times["apart"]) == ("step_s", None, None)
    assert "no step in common" in told["headline"]


def test_the_step_where_a_run_went_wrong_is_named(tmp_path: Path) -> None:
    wrong = open_trace(a_trace(tmp_path, an_incident(a_masked_row(), rank(a_masked_row()))))
    quiet = a_run(tmp_path, "quiet", loss=[1.0 / (1 + step) for step in range(49)])
    told = comparison(wrong, quiet)
    assert told["headline"].endswith("49 common steps; run-1 went wrong at step 48")
    assert comparison(quiet, quiet)["headline"].startswith("the first and the second are the same in every number")
    assert comparison(wrong, wrong)["headline"].endswith("both went wrong at step 48")


def test_only_settings_that_differ_are_named_and_the_same_are_counted(tmp_path: Path) -> None:
    told = comparison(a_run(tmp_path, "a", loss=[1.0]), a_run(tmp_path, "b", loss=[1.0]))
    assert told["settings"] == [{"name": "command", "left": "train.py a", "right": "train.py b"}]
    assert told["same"] >= 3


def test_a_run_that_cannot_be_read_is_said_and_the_other_shown(tmp_path: Path) -> None:
    left, right = a_run(tmp_path, "a", loss=[1.0]), a_run(tmp_path, "b", loss=[1.0])
    (right.path / "run.json").write_text("{broken")
    told = comparison(left, right)
    assert told["runs"][0]["tone"] != told["runs"][1]["tone"] or told["runs"][0]["line"] != told["runs"][1]["line"]
    assert told["runs"][1]["tone"] == "unknown"
    assert told["problems"] and "run.json" in told["problems"][0]
