"""What is said of targets that a masked model reads."""

from __future__ import annotations

from debugtracer.checks.data.givens_scored import GivensScored
from tests.checks.optimizer.seen import found
from tests.trace.facts.test_scored_givens import LABELS, LOSS, scored


def test_targets_that_are_read_are_told_once_at_the_line_that_made_them() -> None:
    (finding,) = found(GivensScored(), [scored(n) for n in range(6)])
    assert finding.message == (
        "step 2, rank 0: 1309 of 1536 targets (train.py:20) are ids that the model reads at the same place, 227 of the "
        "others are hidden behind 59, in 3 of 3 steps looked at; expected the hidden ones alone. Set the others to "
        "-100."
    )
    assert (finding.severity, finding.kind) == ("warning", "label_mask_wrong")
    assert (finding.place.frame, finding.place.symptom_frame) == (LABELS, LOSS)


def test_without_such_a_line_the_loss_is_named() -> None:
    (finding,) = found(GivensScored(), [scored(n, made=None) for n in range(3)])
    assert finding.place.frame == LOSS


def test_few_looks_few_words_and_much_noise_are_not_told() -> None:
    assert not found(GivensScored(), [scored(n) for n in range(2)])
    assert not found(GivensScored(), [scored(n, hidden=20) for n in range(5)])
    assert not found(GivensScored(), [scored(n, same=(700, 1400)[n % 2]) for n in range(5)])
