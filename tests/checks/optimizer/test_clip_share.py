"""Limits far below the norm."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.clip_share import ClipShare
from debugtracer.checks.selection import select
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.clipping import ClipLimit
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import Window
from tests.checks.optimizer.seen import told


def test_every_update_clipped_far_below_its_norm_is_one_note():
    (finding,) = told(ClipShare(), [{"clip_ratio": 42.0}] * 620)
    assert finding.severity == "note"
    assert finding.message == (
        "step 499, rank 0: 500 of the last 500 updates were clipped, the median norm is 42 times the limit; expected a "
        "limit near the 90th percentile of the "
        "norm. Raise max_norm if that is not meant."
    )


@pytest.mark.parametrize("ratios", [[42.0] * 499, [2.0] * 600, [42.0, 0.5] * 300])
def test_a_limit_that_fits_is_healthy(ratios: list[float]):
    assert told(ClipShare(), [{"clip_ratio": r} for r in ratios]) == []


@pytest.mark.parametrize(("limit", "said"), [(0.1, True), (0.5, False), (1.0, False), (10.0, False), (50.0, True)])
def test_a_limit_outside_of_the_range_that_was_asked_for_is_a_note(limit: float, said: bool):
    ref = StepRef(iteration=0, step=0)
    fact = ClipLimit(ref=ref, limit=limit, frame=Frame("/p/train.py", 9))
    window = Window(ref, facts={ClipLimit: [fact]}, came={ClipLimit: 1})
    assert not list(ClipShare().judge(window))
    found = list(ClipShare(lowest=0.5, highest=10.0).judge(window))
    assert [f.message for f in found] == [
        f"step 0, rank 0: gradients are clipped at {limit:g} (train.py:9); expected 0.5 to 10. Look at the share of "
        "updates that are clipped before it is changed."
    ] * said


@pytest.mark.parametrize(
    ("model", "limit", "said"),
    [
        ("attention", 1.0, ""),
        ("attention", 5.0, "expected 0.5 to 1 for a model with attention. Look"),
        ("recurrent", 5.0, ""),
        ("recurrent", 1.0, "expected 5 to 10 for a recurrent model. Look"),
        ("", 5.0, ""),
    ],
)
def test_with_the_limits_of_the_articles_the_range_is_that_of_the_kind_of_model(model: str, limit: float, said: str):
    fact = ClipLimit(ref=StepRef(iteration=0, step=0), limit=limit, model=model)
    window = Window(fact.ref, facts={ClipLimit: [fact]}, came={ClipLimit: 1})
    found = [f.message for f in select("seed")["optimizer/clip-share"].judge(window)]
    assert [said in message for message in found] == [True] * bool(said)
