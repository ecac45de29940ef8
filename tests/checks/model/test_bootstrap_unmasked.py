"""What is said of a mask that is forgotten."""

from __future__ import annotations

from debugtracer.checks.model.bootstrap_unmasked import BootstrapUnmasked
from tests.checks.optimizer.seen import found
from tests.trace.facts.test_unmasked_bootstrap import ADDED, unmasked


def test_ends_in_three_looks_are_told_once() -> None:
    (finding,) = found(BootstrapUnmasked(), [unmasked(n) for n in range(5)])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "rollout_mismatch", ADDED)
    assert "in all rows (train.py:44); 6 of 96, in 3 steps looked at, go to a state" in finding.message
    assert "the column that marks them (train.py:40) is not read" in finding.message


def test_states_that_are_seen_again_are_told_by_being_new() -> None:
    again = [unmasked(n, marked_beyond=0, others_beyond=0, others_new=4) for n in range(5)]
    assert len(found(BootstrapUnmasked(), again)) == 1


def test_ends_anywhere_and_few_looks_are_not_told() -> None:
    assert not found(BootstrapUnmasked(), [unmasked(n, marked_beyond=1) for n in range(5)])
    assert not found(BootstrapUnmasked(), [unmasked(n, others_beyond=12) for n in range(5)])
    assert not found(BootstrapUnmasked(), [unmasked(n, marked=9, marked_beyond=9) for n in range(2)])
    assert not found(BootstrapUnmasked(), [unmasked(n, marked=1, marked_beyond=1) for n in range(5)])
