"""Rows of several positions."""

from __future__ import annotations

from debugtracer.checks.model.axes_mixed import AxesMixed
from debugtracer.trace.facts.mixed_axes import MixedAxes
from tests.checks.optimizer.seen import at, found, line


def test_the_shape_and_both_lines_are_named():
    fact = MixedAxes(
        ref=at(0), function="view", shape=(32, 10, 40), classes=10, frame=line(88), loss="cross_entropy",
        loss_frame=line(89),
    )  # fmt: skip
    (finding,) = found(AxesMixed(), [fact])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "axes_mixed", line(88))
    assert finding.message == (
        "step 0, rank 0: view (train.py:88) cuts (32, 10, 40) into rows of 10, so a row of what cross_entropy "
        "(train.py:89) gets does not hold 10 classes of one position; expected the classes last. Use movedim(1, -1) "
        "before it."
    )
