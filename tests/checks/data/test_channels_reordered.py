"""What is said of channels in another order."""

from __future__ import annotations

from debugtracer.checks.data.channels_reordered import ChannelsReordered
from tests.checks.optimizer.seen import found
from tests.trace.facts.test_channel_order import MADE, swapped


def test_the_channels_and_the_line_that_made_them_are_told() -> None:
    (finding,) = found(ChannelsReordered(), [swapped()])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "axes_mixed", MADE)
    assert finding.message == (
        "step 9, rank 0: the evaluation gives Net channel 0 with mean 0.21 (in training 0.63), as channel 2 there, and "
        "channel 2 as channel 0 there, 2 of 3 in all; expected one order. Convert both datasets alike."
    )


def test_columns_are_called_so() -> None:
    (finding,) = found(ChannelsReordered(), [swapped(pictures=False)])
    assert "gives Net column 0 with" in finding.message


def test_stays_silent_without_a_fact() -> None:
    assert not found(ChannelsReordered(), [])


def test_a_note_where_the_program_itself_changes_what_it_gives() -> None:
    (finding,) = found(ChannelsReordered(), [swapped(loaded=False)])
    assert finding.severity == "note"
