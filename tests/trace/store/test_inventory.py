"""What the ranks of a run say about its end."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.testing import AT, a_finding, a_trace
from debugtracer.trace.events import Acted, Found
from debugtracer.trace.store.inventory import events_of_ranks, findings_at_least, stopped_by_tracer


def test_a_stop_of_any_rank_is_a_stop(tmp_path):
    stop = Acted(at=AT, rank=1, action="stop", iteration=3, step=3, reason="")
    hold = Acted(at=AT, rank=1, action="hold", iteration=3, step=3, reason="")
    assert stopped_by_tracer(a_trace(tmp_path / "a", stop, ranks=2))
    assert not stopped_by_tracer(a_trace(tmp_path / "b", hold, ranks=2))


@pytest.mark.parametrize(
    ("word", "met"), [("off", False), ("note", True), ("warning", True), ("error", False), ("other", False)]
)
def test_a_finding_meets_a_severity_at_most_its_own(tmp_path, word, met):
    run = a_trace(tmp_path, Found(at=AT, rank=0, finding=a_finding(severity="warning")))
    assert bool(findings_at_least(run, word)) is met


def test_the_gravest_and_earliest_finding_comes_first(tmp_path):
    places = (("note", 0), ("error", 9), ("warning", 1), ("error", 4))
    made = [
        msgspec.structs.replace(a_finding(severity=word), iteration=n, check=f"model/{word}-{n}") for word, n in places
    ]
    run = a_trace(tmp_path, *(Found(at=AT, rank=0, finding=finding) for finding in made))
    assert [f.check for f in findings_at_least(run, "warning")] == ["model/error-4", "model/error-9", "model/warning-1"]


def test_ranks_are_in_order_of_number_and_a_damaged_one_is_empty(tmp_path):
    run = a_trace(tmp_path, ranks=11)
    (run / "rank=3" / "events.jsonl").write_bytes(b"\xff\xfe not json\n" * 3)
    (run / "rank=x").mkdir()
    known = events_of_ranks(run)
    assert list(known) == list(range(11))
    assert known[10] and not known[3]


def test_a_run_without_ranks_has_nothing_to_say(tmp_path):
    assert events_of_ranks(tmp_path) == {}
    assert not stopped_by_tracer(tmp_path) and not findings_at_least(tmp_path, "note")
