"""What is said of an outer loss that takes the rows of the inner one."""

from __future__ import annotations

from debugtracer.checks.model.query_unread import QueryUnread
from tests.checks.optimizer.seen import found
from tests.trace.facts.test_inner_update import OUTER, inner


def test_the_same_rows_beside_unread_ones_are_told_once() -> None:
    (finding,) = found(QueryUnread(), [inner(n, same=4, unread=2) for n in range(4)])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "loss_misuse", OUTER)
    assert "4 of 4 outer losses (meta.py:40) take the targets that the inner loss took, in 2 steps" in finding.message
    assert "made for them (meta.py:20) is read by nothing" in finding.message


def test_other_rows_and_one_set_of_rows_are_not_told() -> None:
    assert not found(QueryUnread(), [inner(n) for n in range(4)])
    assert not found(QueryUnread(), [inner(n, same=4) for n in range(4)])
    assert not found(QueryUnread(), [inner(n, same=2, unread=2) for n in range(4)])
    assert not found(QueryUnread(), [inner(0, same=4, unread=2)])
