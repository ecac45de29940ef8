"""Returns in the wrong order."""

from __future__ import annotations

from debugtracer.checks.model.returns_reversed import ReturnsReversed
from debugtracer.trace.facts.reversed_returns import ReversedReturns
from tests.checks.optimizer.seen import at, found, line


def test_it_is_said_once_for_a_list():
    facts = [ReversedReturns(ref=at(n), frame=line(41), loss_frame=line(53), steps=30) for n in range(3)]
    (finding,) = found(ReturnsReversed(), facts)
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "rollout_mismatch", line(41))
    assert finding.message == (
        "step 0, rank 0: the 30 returns appended at train.py:41 stand from the last step to the first, and the product "
        "(train.py:53) pairs the first of them with the first step; expected the return of each step. Turn the list "
        "round."
    )
