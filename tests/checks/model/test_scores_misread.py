"""Scores that an evaluation takes for probabilities."""

from __future__ import annotations

from debugtracer.checks.model.scores_misread import ScoresMisread
from debugtracer.trace.facts.cut_scores import CutScores
from tests.checks.optimizer.seen import at, found, line


def seen(step: int, name: str = "gt", **more):
    return CutScores(
        ref=at(step), function=name, squashes="binary_cross_entropy_with_logits", root="Sequential", shape=(32, 1),
        values=32, frame=line(31), train_frame=line(24), **more,
    )  # fmt: skip


def test_a_cut_at_one_half_is_said_once_with_the_values_between():
    (finding,) = found(ScoresMisread(), [seen(119, between=5), seen(239, between=4)])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "loss_misuse", line(31))
    assert finding.place.symptom_frame == line(24)
    assert finding.message == (
        "step 119, rank 0: the output of Sequential of shape (32, 1) is cut at 0.5 (train.py:31), and training gives "
        "it to binary_cross_entropy_with_logits (train.py:24) as scores, for which 0 is one half: 5 of 32 values lie "
        "between; expected a cut of probabilities. Cut torch.sigmoid(scores) at 0.5, or the scores at 0."
    )


def test_a_rounding_is_said_as_one():
    (finding,) = found(ScoresMisread(), [seen(119, "round", between=5)])
    assert "is rounded (train.py:31), and training gives it" in finding.message


def test_the_largest_of_one_column():
    (finding,) = found(ScoresMisread(), [seen(119, "argmax", column=True)])
    assert finding.message.startswith(
        "step 119, rank 0: argmax (train.py:31) looks for the largest of one: it goes along a dimension of size 1 of "
        "the output of Sequential of shape (32, 1), so the answer is always 0"
    )
    assert finding.message.endswith("Cut the score, or use two outputs.")
