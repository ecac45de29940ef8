"""What is said of a sequence that is asked for as it was given."""

from __future__ import annotations

from debugtracer.checks.model.own_item_wanted import OwnItemWanted
from tests.checks.optimizer.seen import found
from tests.trace.facts.test_own_item import MADE, WANTED, own


def test_three_looks_are_told_once() -> None:
    (finding,) = found(OwnItemWanted(), [own(n) for n in range(5)])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "targets_misaligned", MADE)
    assert (
        "asked for (model.py:88) are those that the model was given, at 640 of 640 places (made at utils.py:30), in 3"
        in (finding.message)
    )


def test_without_a_maker_the_look_up_is_named() -> None:
    (finding,) = found(OwnItemWanted(), [own(n, made=None) for n in range(3)])
    assert finding.place.frame == WANTED


def test_other_items_on_the_same_line_change_nothing() -> None:
    assert len(found(OwnItemWanted(), [one for n in range(3) for one in (own(n), own(n, 20))])) == 1


def test_masked_places_and_two_looks_are_not_told() -> None:
    assert not found(OwnItemWanted(), [own(n, 540) for n in range(5)])
    assert not found(OwnItemWanted(), [own(n) for n in range(2)])
