"""Targets that stand in another order than their inputs."""

from __future__ import annotations

import pytest

from debugtracer.checks.data.orders_differ import ROWS, OrdersDiffer
from debugtracer.trace.facts.row_pairing import RowPairing
from tests.checks.optimizer.seen import at, found, line


def pairing(order="reversed", **other):
    given = {"gain": 0.81, "present": -0.06, "rows": 900, "loss_frame": line(30)} | other
    return RowPairing(ref=at(8), order=order, **given)


def test_the_order_and_the_line_are_told():
    (one,) = found(OrdersDiffer(), [pairing(frame=line(18), made=(line(13),))])
    assert (one.severity, one.kind, one.place.frame) == ("warning", "targets_misaligned", line(18))
    assert one.message == (
        "step 8, rank 0: of 900 rows the targets cannot be told from the inputs (-0.06 of their variance; 0 by chance),"
        " but 0.81 of it can with the targets in the opposite order; one side is put in order at train.py:18; expected "
        "both sides in one order. Take both by one index."
    )


@pytest.mark.parametrize("order", sorted(ROWS))
def test_every_order_has_words(order):
    (one,) = found(OrdersDiffer(), [pairing(order, by=3, wrapped=8, made=(line(13),))])
    assert ", made at train.py:13; expected" in one.message and one.severity == "warning"


@pytest.mark.parametrize(
    ("wrapped", "kind", "severity"),
    [(7, "numbers", "note"), (8, "numbers", "warning"), (0, "pictures", "warning"), (0, "texts", "warning")],
)
def test_what_a_forecast_looks_like_is_a_note(wrapped, kind, severity):
    (one,) = found(OrdersDiffer(), [pairing("moved", by=1, wrapped=wrapped, kind=kind)])
    assert one.severity == severity
    assert ("Unless this is a forecast" in one.message) == (severity == "note")


def test_one_sorted_side_is_told():
    (one,) = found(OrdersDiffer(), [pairing("targets-sorted", frame=line(6))])
    (unsaid,) = found(OrdersDiffer(), [pairing("targets-sorted", frame=None)])
    assert unsaid.severity == "warning"  # files of one class after the other
    assert one.severity == "error" and "the targets rise or fall from the first to the last" in one.message
    (other,) = found(OrdersDiffer(), [pairing("inputs-sorted")])
    assert other.severity == "note" and other.place.frame == line(30)


def test_nothing_is_said_without_a_fact():
    assert found(OrdersDiffer(), []) == []
