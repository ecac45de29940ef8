"""A followed trace says what a trace says, now and later."""

from __future__ import annotations

from pathlib import Path

from debugtracer.testing import a_finding, a_trace
from debugtracer.trace.events import Found
from debugtracer.trace.store.followed_trace import FollowedTrace
from debugtracer.trace.store.journal import encode_event
from debugtracer.trace.store.reader import open_trace


def test_it_says_what_a_trace_says_also_later(tmp_path: Path) -> None:
    run = a_trace(tmp_path, ranks=2)
    trace = FollowedTrace(run)
    assert trace.events() == open_trace(run).events() and trace.events(1) == open_trace(run).events(1)
    with (run / "rank=1" / "events.jsonl").open("ab") as file:
        file.write(encode_event(Found(at=99.0, rank=1, finding=a_finding())) + b"\n{broken}\n")
    later = trace.again()
    assert later.events() == open_trace(run).events() and len(later.problems) == 1
    assert trace.problems == []
