"""What is said of a mask that is turned round."""

from __future__ import annotations

from debugtracer.checks.model.bootstrap_inverted import BootstrapInverted
from tests.checks.optimizer.seen import found
from tests.trace.facts.test_bootstrap_mask import MASKED, masked


def test_few_rows_in_three_looks_are_told_once() -> None:
    (finding,) = found(BootstrapInverted(), [masked(n) for n in range(5)])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "rollout_mismatch", MASKED)
    assert (
        "the value of the next state counts in 6 of 96 rows (train.py:44) of the target, in 3 steps" in finding.message
    )


def test_most_rows_none_and_two_looks_are_not_told() -> None:
    assert not found(BootstrapInverted(), [masked(n, kept=30) for n in range(5)])
    assert not found(BootstrapInverted(), [masked(n, kept=0) for n in range(5)])
    assert not found(BootstrapInverted(), [masked(n) for n in range(2)])
    assert not found(BootstrapInverted(), [masked(n, kept_again=n % 2) for n in range(5)])


def test_a_note_where_no_state_is_seen_twice() -> None:
    (finding,) = found(BootstrapInverted(), [masked(n, again=0) for n in range(5)])
    assert finding.severity == "note"
    assert "unless most episodes are one step long." in finding.message
