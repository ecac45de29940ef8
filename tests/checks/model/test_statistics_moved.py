"""Batch norms of a frozen part that move."""

from __future__ import annotations

import pytest

from debugtracer.checks.model.statistics_moved import StatisticsMoved
from debugtracer.trace.facts.moved_statistics import MovedStatistics
from tests.checks.optimizer.seen import at, found, line

MOVE = {
    "root": "Leaves", "part": "stem", "whole": False, "module": "stem.1", "norms": 2, "furthest": "stem.5",
    "gap": 1.9, "ratio": 1.1, "steps": 240, "frame": line(41, "model.train()"), "on_root": True,
    "frozen_by": line(38, "p.requires_grad = False"),
}  # fmt: skip


def judged(**more):
    return found(StatisticsMoved(), [MovedStatistics(ref=at(240), **{**MOVE, **more})])


def test_a_stem_that_adapts():
    (finding,) = judged()
    assert (finding.severity, finding.kind, finding.place.frame.line) == ("warning", "train_eval_mode", 41)
    assert finding.message == (
        "step 240, rank 0: 2 batch norms of a frozen part (stem.1, ... of Leaves; frozen (train.py:38)) went on to "
        "take the statistics of the batches for 240 updates, in training mode (train.py:41): the running mean of "
        "stem.5 moved by 1.9 of its own deviations; expected those its weights were trained with. Call "
        "model.stem.eval() after model.train()."
    )
    assert finding.remedy[0] == "call model.stem.eval() after model.train(), best in a train() of the model's own"


def test_the_line_that_freezes_where_nobody_called_train():
    (finding,) = judged(frame=None, on_root=False, norms=1, gap=0.0, ratio=3.0)
    assert finding.place.frame.line == 38
    assert "the batch norm stem.1 of a frozen part (Leaves; frozen (train.py:38)) went on" in finding.message
    assert "the running variance is 3 times off what it was" in finding.message
    assert finding.message.endswith("Call eval() on its stem after every train().")
    (finding,) = judged(frame=None, on_root=False, frozen_by=None, called_at=line(50))
    assert finding.place.frame.line == 50


@pytest.mark.parametrize(
    ("more", "advice"),
    [
        ({"whole": True, "part": ""}, "Call model.eval() instead."),
        ({"whole": True, "part": "", "on_root": False}, "Call eval() on it after every train()."),
        ({"part": ""}, "Call eval() on its frozen parts after every model.train()."),
        ({"frame": line(3, "for m in models: m.train()")}, "Call eval() on its stem after every train()."),
    ],
)
def test_what_to_do(more, advice):
    (finding,) = judged(**more)
    assert finding.message.endswith(advice)


@pytest.mark.parametrize("more", [{"gap": 0.49}, {"gap": 0.2, "ratio": 1.9}, {"steps": 19}])
def test_small_moves_and_short_runs_are_silent(more):
    assert judged(**more) == []


def test_at_the_threshold():
    assert len(judged(gap=0.5)) == len(judged(gap=0.0, ratio=2.0)) == 1
