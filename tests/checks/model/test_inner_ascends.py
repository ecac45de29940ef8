"""What is said of inner updates that go up."""

from __future__ import annotations

from debugtracer.checks.model.inner_ascends import InnerAscends
from tests.checks.optimizer.seen import found
from tests.trace.facts.test_inner_update import MADE, inner


def test_updates_that_all_go_up_are_told_once() -> None:
    (finding,) = found(InnerAscends(), [inner(n, ascending=24) for n in range(4)])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "loss_misuse", MADE)
    assert "24 of 24 inner updates add the gradient of the loss to a weight (meta.py:31), in 2 steps" in finding.message


def test_updates_that_go_down_or_take_turns_are_not_told() -> None:
    assert not found(InnerAscends(), [inner(n) for n in range(4)])
    assert not found(InnerAscends(), [inner(n, ascending=12) for n in range(4)])
    assert not found(InnerAscends(), [inner(n, ascending=24 * (n % 2 == 0)) for n in range(6)])


def test_an_ascent_that_is_judged_by_the_same_rows_is_not_told() -> None:
    assert not found(InnerAscends(), [inner(n, ascending=24, same=4) for n in range(4)])
    assert not found(InnerAscends(), [inner(0, ascending=24)])
