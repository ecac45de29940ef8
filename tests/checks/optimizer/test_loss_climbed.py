"""Losses that rise because a sign is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from debugtracer.checks.optimizer.loss_climbed import LossClimbed
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.facts.climb import Climb
from debugtracer.trace.finding import Finding
from tests.checks.optimizer.seen import at, line

RISING = [0.3, 0.32, 0.31, 0.33, 0.36, 0.4, 0.43, 0.47, 0.5]


def judged(losses: list[float], known: bool = True, **more: Any) -> list[Finding]:
    """What the check says of these losses; the fact comes with the third."""
    check = LossClimbed()
    judge, got = Judge({check.slug: check}), []
    fact = Climb(
        **{"ref": at(2), "function": "squared error", "updates": 3, "cosine": 0.98, "turned": False, "start": 0.3,
           "frame": line(16), "backward": line(14), **more}
    )  # fmt: skip
    for step, loss in enumerate(losses):
        got += judge.judge(at(step), {"loss": loss}, [fact] if step == 2 and known else [])
    return got


def test_a_gradient_that_is_added():
    (finding,) = judged(RISING)
    assert finding.message == (
        "step 2, rank 0: the first 3 updates go up the squared error (train.py:14) (cosine with its gradient 0.98), "
        "and it has risen from 0.315 to 0.415 in 7 steps; expected down. train.py:16 adds the gradient: subtract it."
    )
    assert (finding.severity, finding.kind, finding.step) == ("error", "update_reversed", 2)
    assert (finding.place.frame, finding.place.symptom_frame) == (line(16), line(14))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"turned": True, "optimizer": "Adam"}, "train.py:16 makes the loss negative: take the minus away."),
        ({"maximize": True, "optimizer": "Adam"}, "builds Adam with maximize=True: leave it out."),
        ({"optimizer": "Descent"}, "writes the update of Descent: subtract the gradient."),
    ],
)
def test_what_turns_the_sign(more, words):
    (finding,) = judged([-loss for loss in RISING], **more)
    assert finding.message.endswith(words)


def test_a_loss_that_does_not_rise_is_left_alone():
    assert judged([0.3] * 30) == []
    assert judged([0.3] * 8 + [0.39] * 8) == []
    assert len(judged([0.3] * 8 + [0.4] * 8)) == 1


def test_without_the_updates_nothing_is_said():
    assert judged(RISING, known=False) == []
    assert judged(RISING[:7]) == []


COSINE: dict[str, Any] = {"function": "cosine similarity", "turned": True, "optimizer": "SGD", "frame": line(17)}


def test_a_similarity_that_is_the_loss():
    (finding,) = judged([0.02, 0.01, 0.0, 0.01, -0.1, -0.3, -0.5, -0.7, -0.8], **COSINE)
    assert finding.message == (
        "step 2, rank 0: the first 3 updates go down the cosine similarity (train.py:14) (cosine with its gradient "
        "0.98), and it has fallen from 0.01 to -0.4 in 7 steps; expected up. train.py:17 makes the similarity with the "
        "target the loss: use 1 - similarity."
    )
    assert "1 - similarity" in finding.remedy[0]


def test_a_similarity_that_does_not_become_opposite():
    assert judged([0.4] * 4 + [0.1] * 8, **COSINE) == []
    assert judged([-0.29] * 8, **COSINE) == []
    assert judged([0.0] * 4 + [-0.29] * 8, **COSINE) == []
    assert len(judged([0.0] * 4 + [-0.3] * 8, **COSINE)) == 1
