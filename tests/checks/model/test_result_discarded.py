"""Results that are thrown away."""

from __future__ import annotations

from debugtracer.checks.model.result_discarded import ResultDiscarded
from debugtracer.trace.facts.discarded_result import DiscardedResult
from tests.checks.optimizer.seen import at, found, line


def judged(share):
    return found(
        ResultDiscarded(),
        [DiscardedResult(ref=at(0), function="clamp", twin="clamp_", frame=line(143), changed=share)],
    )


def test_the_line_the_share_and_the_twin_are_named():
    (finding,) = judged(0.61)
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "result_discarded", line(143))
    assert finding.message == (
        "step 0, rank 0: the result of clamp (train.py:143) is thrown away, though 61 % of its values are others than "
        "those that went in; expected that it is kept. Write clamp_, or assign the result."
    )


def test_a_small_share_is_not_called_nothing():
    assert "less than 1 % of its values" in judged(0.001)[0].message
