"""Lines of snapshots are found as the writer writes them, left alone, and read one by one when somebody asks."""

from __future__ import annotations

from pathlib import Path

from debugtracer.testing import a_trace
from debugtracer.trace.events import Observed
from debugtracer.trace.store.followed_trace import FollowedTrace
from debugtracer.trace.store.journal import decode_event, encode_event
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.snapshot_lines import HEAD, is_snapshot, span_of
from debugtracer.views.page.still_trace import StillTrace
from tests.views.test_layers import snapshot


def test_the_encoder_writes_what_the_finder_looks_for() -> None:
    line = encode_event(snapshot(7))
    assert is_snapshot(line) and isinstance(decode_event(line), Observed)
    assert span_of(3, 10, 10 + len(line), line[:HEAD]).step == 7
    assert not is_snapshot(encode_event(Observed(at=1.0, word="seeds/Seeds", fact={})))


def test_every_reader_gives_the_same_snapshots_and_the_looking_ones_decode_none_for_events(tmp_path: Path) -> None:
    run = a_trace(tmp_path, snapshot(0), snapshot(9))
    whole = open_trace(run)
    held = [event for event in whole.events() if isinstance(event, Observed)]
    assert len(held) == 2
    for trace in (whole, FollowedTrace(run), StillTrace(whole), StillTrace(FollowedTrace(run))):
        assert [fact.ref.step for fact in trace.snapshots(0)] == [0, 9]
        spans = trace.snapshot_spans(0)
        assert [span.step for span in spans] == [0, 9]
        assert [fact.ref.step for fact in trace.snapshots(0, spans[1:])] == [9]
        assert [e for e in whole.events() if e not in held] == trace.events(snapshots=False)
    assert FollowedTrace(run).events(snapshots=True) == whole.events()


def test_a_damaged_snapshot_is_said_when_it_is_read_and_a_torn_one_is_none(tmp_path: Path) -> None:
    run = a_trace(tmp_path, snapshot(0))
    events = run / "rank=0" / "events.jsonl"
    line = encode_event(snapshot(5))
    events.write_bytes(events.read_bytes() + line.replace(b'"tensors":[', b'"tensors":[[') + b"\n" + line[:-20])
    for trace in (open_trace(run), FollowedTrace(run)):
        assert [fact.ref.step for fact in trace.snapshots(0)] == [0]
        assert len(trace.problems) == 1 and "this line is skipped" in trace.problems[0]
