"""Views that are the same."""

from __future__ import annotations

from debugtracer.checks.data.views_equal import ViewsEqual
from debugtracer.trace.facts.equal_views import EqualViews
from tests.checks.optimizer.seen import at, found, line


def judged(steps):
    return found(
        ViewsEqual(), [EqualViews(ref=at(step), root="Net", samples=16, frame=line(73)) for step in range(steps)]
    )


def test_three_steps_are_needed_and_it_is_said_once():
    assert judged(2) == []
    (finding,) = judged(5)
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "label_leak", line(73))
    assert finding.message == (
        "step 2, rank 0: Net (train.py:73) is given 16 samples twice, with the same values in both views, in 3 of 3 "
        "steps looked at; expected two views that differ. Call the transform once for each view."
    )
