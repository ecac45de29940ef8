"""Running statistics of a copy."""

from __future__ import annotations

from debugtracer.checks.optimizer.copy_statistics import CopyStatistics
from debugtracer.trace.facts.fresh_statistics import FreshStatistics
from tests.checks.optimizer.seen import at, found, line


def test_statistics_that_stay_behind_are_told_where_the_copy_is_evaluated():
    fact = FreshStatistics(ref=at(19), module="body.1", norms=2, trained=20, kind="Net", frame=line(43))
    (finding,) = found(CopyStatistics(), [fact])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "average_not_updated", line(43))
    assert finding.message == (
        "step 19, rank 0: 2 batch norms of the copy of Net that is evaluated (train.py:43) still have mean 0 and "
        "variance 1 (first body.1), while the trained network has counted 20 batches; expected its statistics. Copy "
        "the buffers with the weights."
    )


def test_the_line_that_writes_the_weights_leads_where_it_is_known():
    fact = FreshStatistics(
        ref=at(19), module="", norms=1, trained=20, kind="Net", frame=line(43), written=line(17), off=0.5
    )
    (finding,) = found(CopyStatistics(), [fact])
    assert (finding.place.frame, finding.place.symptom_frame) == (line(17), line(43))
    assert finding.message == (
        "step 19, rank 0: 1 batch norm of the copy of Net that is evaluated (train.py:43) have not moved (first the "
        "norm) while its weights did and the trained network counted 20 batches: 50 % of its channels have other "
        "statistics there; expected its statistics. Copy the buffers with the weights (train.py:17)."
    )
