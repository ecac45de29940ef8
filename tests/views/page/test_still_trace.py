"""The events of a page's trace are read once and are those of the trace it was given."""

from __future__ import annotations

from pathlib import Path

from debugtracer.testing import a_trace
from debugtracer.trace.store.reader import Trace, open_trace
from debugtracer.views.page.still_trace import StillTrace


class Counting(Trace):
    """Counts how often its files are read."""

    reads = 0

    def events(self, rank=None, *, snapshots=True):
        self.reads += 1
        return super().events(rank, snapshots=snapshots)


def test_events_are_read_once_whoever_asks(tmp_path: Path) -> None:
    trace = Counting(a_trace(tmp_path))
    still = StillTrace(trace)
    asked = [still.events(), still.events(0), still.events()]
    assert trace.reads == 1
    assert asked[0] == asked[2] == open_trace(trace.path).events()


def test_several_ranks_are_in_order_of_time(tmp_path: Path) -> None:
    trace = open_trace(a_trace(tmp_path, ranks=2))
    assert StillTrace(trace).events() == trace.events()
    assert StillTrace(trace).problems is trace.problems


def test_the_ranks_are_those_of_the_first_question(tmp_path: Path) -> None:
    still = StillTrace(open_trace(a_trace(tmp_path, ranks=2)))
    assert still.ranks == [0, 1]
    (still.path / "rank=2").mkdir()
    assert still.ranks == [0, 1]
