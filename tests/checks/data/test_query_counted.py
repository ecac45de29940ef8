"""Nearest rows that begin with the row that is asked for."""

from __future__ import annotations

from debugtracer.checks.data.query_counted import QueryCounted
from debugtracer.trace.facts.own_neighbour import OwnNeighbour
from debugtracer.trace.finding import Finding
from tests.checks.facts_at import judged, line, ref


def told(own: int = 128, neighbours: int = 8) -> list[Finding]:
    fact = OwnNeighbour(ref=ref(), function="topk", rows=128, neighbours=neighbours, own=own, frame=line(12))
    return judged(QueryCounted(), [fact])


def test_a_query_that_is_its_own_neighbour_is_told_at_the_line_that_ranks() -> None:
    (finding,) = told()
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "data_train_eval_overlap", line(12))
    assert finding.message == (
        "step 0, rank 0: the 8 nearest rows that topk finds (train.py:12) begin with the row itself in 128 of 128 "
        "rows, and its label is counted as found; expected other rows alone. Fill the diagonal with inf before, or "
        "take one more and drop the first."
    )


def test_of_one_neighbour_it_is_said_so() -> None:
    (finding,) = told(neighbours=1)
    assert "the nearest row that topk finds (train.py:12) is the row itself in 128 of 128 rows" in finding.message


def test_at_the_threshold() -> None:
    assert told(own=121) == []
    assert len(told(own=122)) == 1
