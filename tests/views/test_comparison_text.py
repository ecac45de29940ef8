"""Two runs as text: the step where they part is the first thing said, every sentence one that can be acted on."""

from __future__ import annotations

from pathlib import Path

from debugtracer.views.comparison import comparison
from debugtracer.views.comparison_text import render_comparison
from tests.views.test_comparison import a_run


def test_the_parting_stands_first_then_the_runs_the_numbers_the_settings(tmp_path: Path) -> None:
    left = a_run(tmp_path, "left", loss=[1.0, 0.5, 0.25], lr=[0.1, 0.1, 0.1])
    right = a_run(tmp_path, "right", loss=[1.0, 0.5001, 0.3], lr=[0.1, 0.1, 0.1])
    lines = render_comparison(comparison(left, right), width=100).splitlines()
    assert lines[0] == "debug-tracer: left and right part at step 1: loss 0.5 and 0.5001"
    told = [" ".join(line.split()) for line in lines]
    assert "loss differs from step 1 (0.5 and 0.5001), by more than 1 % from step 2" in told
    assert "learning rate the same in 3 common steps" in told
    at = told.index("command train.py left")
    assert told[at + 1] == "train.py right" and told[at - 1].startswith("set 1 difference;")


def test_a_run_beside_itself_has_nothing_to_say_of(tmp_path: Path) -> None:
    run = a_run(tmp_path, "left", loss=[1.0, 0.5])
    text = render_comparison(comparison(run, run))
    assert "the same in every number of their 2 common steps" in " ".join(text.split())
    assert "no difference in the" in text


def test_a_difference_that_nobody_would_see_is_called_so(tmp_path: Path) -> None:
    left, right = a_run(tmp_path, "left", loss=[1.0]), a_run(tmp_path, "right", loss=[1.0001])
    assert "never by more than 1 %" in render_comparison(comparison(left, right))
