"""Scores that know the target before anything is learnt."""

from __future__ import annotations

from typing import Any

from debugtracer.checks.model.scores_hold_targets import ScoresHoldTargets
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.checkpoint import Resumed
from debugtracer.trace.facts.former_run import FormerRun
from debugtracer.trace.facts.logit_scale import LogitScale
from tests.spikes.series import findings, ref


def look(step: int, **more: Any) -> LogitScale:
    return LogitScale(ref=ref(step), **{"classes": 40, "rows": 32, "log_z": 275.0, "gap": 267.0, "loss": 0.0, **more})


def told(*facts: Any, steps: int = 120) -> list[Any]:
    return findings(ScoresHoldTargets(), [0.0] * steps, facts)


def test_a_loss_of_nothing_in_the_first_batches_is_a_warning():
    (found,) = told(look(0), look(1, gap=266.0), look(2), look(100))
    assert (found.severity, found.step, found.kind, found.symptom) == ("warning", 0, "label_leak", "no_learning")
    assert "cross_entropy was 0 in the 32 rows of each of the first 3 batches" in found.message
    assert "the largest of 40 scores lies 266 above the second" in found.message


def test_one_batch_that_is_not_right_ends_the_question():
    assert not told(look(0), look(1, loss=0.1), look(2))
    assert not told(look(0), look(1, gap=39.0), look(2))
    assert not told(look(0), look(1, rows=7), look(2))
    assert not told(*(look(step, classes=2) for step in range(3)))


def test_partners_of_rows_are_no_classes():
    assert not told(*(look(step, classes=32, pairs=True) for step in range(3)))
    assert told(*(look(step, classes=32) for step in range(3)))


def test_what_was_learnt_later_is_no_leak():
    assert not told(look(100), look(101), look(102))
    assert not told(look(0, loss=3.0), look(1), look(2), look(3))


def test_loaded_weights_may_be_that_sure():
    former = FormerRun(ref=ref(0), run="before", step=900, start=0, losses=())
    assert not told(former, look(0), look(1), look(2))
    assert not told(Resumed(ref=ref(0)), look(0), look(1), look(2))


def test_an_angle_in_degrees_is_the_line_to_edit():
    angle = {"angle": 28.6, "angle_frame": Frame("config.py", 6), "taken_by": "cos", "frame": Frame("focal.py", 21)}
    (found,) = told(look(0, **angle), look(1, **angle), look(2, **angle))
    assert (found.place.frame, found.place.symptom_frame) == (Frame("config.py", 6), Frame("focal.py", 21))
    assert "cos is given 28.6 (config.py:6) and takes radians, of which a full turn has 6.28." in found.message
    assert found.message.endswith("Then pass math.radians(28.6).")
