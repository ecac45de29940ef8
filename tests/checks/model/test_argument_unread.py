"""Arguments that forward never reads."""

from __future__ import annotations

from debugtracer.checks.model.argument_unread import ArgumentUnread
from debugtracer.trace.facts.unread_argument import UnreadArgument
from tests.checks.optimizer.seen import at, found, line


def test_the_line_that_reads_the_other_one_again_is_named():
    fact = UnreadArgument(
        ref=at(0), root="SiameseNetwork", argument="input2", other="input1", reads=2, shape=(64, 1, 28, 28),
        frame=line(50),
    )  # fmt: skip
    (finding,) = found(ArgumentUnread(), [fact])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "input_ignored", line(50))
    assert finding.message == (
        "step 0, rank 0: forward of SiameseNetwork never reads input2, of shape (64, 1, 28, 28), and reads input1, "
        "which is like it, 2 times; expected both. Pass input2 in train.py:50."
    )
