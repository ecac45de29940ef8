"""Contrastive losses that count the score of each row with itself."""

from __future__ import annotations

import pytest

from debugtracer.checks.model.own_scored import OwnScored
from debugtracer.trace.facts.own_scores import OwnScores
from tests.checks.optimizer.seen import at, found, line


def seen(step: int, share: float = 0.62, name: str = "cross_entropy", rows: int = 128, **more):
    return OwnScores(ref=at(step), function=name, rows=rows, share=share, frame=line(16), scores_frame=line(14), **more)


def test_it_is_said_once_with_the_share():
    (finding,) = found(OwnScored(), [seen(0), seen(1), seen(2)])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "loss_misuse", line(14))
    assert finding.place.symptom_frame == line(16)
    assert finding.message == (
        "step 1, rank 0: the scores of 128 rows with one another (train.py:14) come into cross_entropy (train.py:16) "
        "with that of each row with itself, which has 62% of the sum on average and is never the target, in 2 looks; "
        'expected the other rows alone. Take the diagonal out: scores.fill_diagonal_(float("-inf")).'
    )


def test_sums_of_exponentials_have_no_target():
    (finding,) = found(OwnScored(), [seen(0, name="exp"), seen(1, name="exp")])
    assert "are summed as exponentials (train.py:16) with that of each row with itself, which has" in finding.message


def test_the_row_itself_as_the_answer_is_told_at_the_targets():
    facts = [seen(step, wanted=True, share=0.01, target_frame=line(15)) for step in (0, 1)]
    (finding,) = found(OwnScored(), facts)
    assert (finding.place.frame, finding.place.symptom_frame) == (line(15), line(16))
    assert "the target of each of 128 rows in cross_entropy (train.py:16) is the row itself" in finding.message


@pytest.mark.parametrize(("share", "rows", "said"), [(0.03, 128, 1), (0.0299, 128, 0), (0.2, 10, 1), (0.199, 10, 0)])
def test_a_small_share_changes_little(share, rows, said):
    assert len(found(OwnScored(), [seen(step, share, rows=rows) for step in (0, 1)])) == said


def test_one_look_is_silent():
    assert found(OwnScored(), [seen(0), seen(0)]) == []
