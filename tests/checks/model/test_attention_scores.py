"""Scores that leave softmax no choice."""

from __future__ import annotations

from debugtracer.checks.model.attention_scores import AttentionScores
from tests.checks.test_snapshots import a_snapshot, an_activation, judged


def scores(*rows):
    return [
        a_snapshot(100 * i, an_activation("attn:softmax", "softmax", logit_max=score, entropy=entropy))
        for i, (score, entropy) in enumerate(rows)
    ]


def test_scores_that_grow_until_one_key_is_left_are_a_warning():
    loud = [
        f
        for f in judged(AttentionScores(), *scores((4.0, 0.9), (140.0, 0.05), (312.0, 0.03)))
        if f.severity == "warning"
    ]
    (finding,) = loud
    assert (finding.kind, finding.step, finding.place.module) == ("logit_saturation", 200, "attn")
    assert finding.message == (
        "step 200, rank 0: the scores of attn:softmax reach 312, from 4 before, and its rows have 3% of the largest "
        "entropy; expected below 100. "
        "Divide by sqrt(d), normalise queries and keys, or lower the learning rate."
    )


def test_high_scores_with_a_choice_left_or_without_growth_are_notes_and_low_ones_nothing():
    assert {f.severity for f in judged(AttentionScores(), *scores((4.0, 0.9), (140.0, 0.5), (312.0, 0.4)))} == {"note"}
    assert {f.severity for f in judged(AttentionScores(), *scores((140.0, 0.05), (141.0, 0.05), (150.0, 0.05)))} == {
        "note"
    }
    assert judged(AttentionScores(), *scores((4.0, 0.01), (45.0, 0.01))) == []
