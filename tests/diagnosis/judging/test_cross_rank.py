"""Ranks are judged together from what each has written."""

from __future__ import annotations

import json

import pytest

from debugtracer.diagnosis.judging.cross_rank import judge_run, judged, last_window
from debugtracer.trace.events import Found, Observed
from debugtracer.trace.facts.fact import Fact, to_plain
from debugtracer.trace.facts.replicas import Replica
from debugtracer.trace.store.inventory import events_of_ranks
from debugtracer.trace.store.reader import Trace
from debugtracer.trace.store.writer import TraceWriter
from tests.checks.device.replicas import a_batch, a_replica


def a_run(folder, ranks: dict[int, list[Fact]]):
    (folder / "run.json").write_text(json.dumps({}))
    for rank, facts in ranks.items():
        writer = TraceWriter(folder, rank, flush_steps=10, flush_s=1.0, run_bytes=2**20)
        for fact in facts:
            writer.event(Observed(at=1.0, rank=rank, word=fact.word(), fact=to_plain(fact)))
        for step in range(30):
            writer.point(step, {"loss": 1.0 + rank, "step_s": 0.1})
        writer.close()
    return folder


def test_a_finding_of_two_ranks_joins_the_events_of_the_lowest(tmp_path, capsys):
    run = a_run(tmp_path, {0: [a_replica(1)], 1: [a_replica(1, 1, before=(1, 9), param_l2=5.0)]})
    (one,) = judge_run(run)
    assert one.kind == "ddp_replica_drift"
    events = events_of_ranks(run)
    assert [event.finding for event in events[0] if isinstance(event, Found)] == [one]
    assert not [event for event in events[1] if isinstance(event, Found)]
    assert "debug-tracer: error: step 1, rank 0: 0.bias differs between ranks 0 and 1" in capsys.readouterr().err


def test_healthy_ranks_and_single_ones_say_nothing(tmp_path, capsys):
    both = a_run(tmp_path, {0: [a_replica(n) for n in range(3)], 1: [a_replica(n, 1) for n in range(3)]})
    assert judge_run(both) == []
    (tmp_path / "alone").mkdir()
    alone = a_run(tmp_path / "alone", {0: [a_replica(0), a_batch(0)]})
    assert judge_run(alone) == []
    assert capsys.readouterr().err == ""


def test_the_last_window_holds_facts_and_series(tmp_path):
    run = a_run(tmp_path, {0: [a_replica(n) for n in range(200)], 1: []})
    window = last_window(Trace(run), 0)
    assert len(window.seen(Replica)) == Replica.KEEP
    assert window.last(Replica).ref.step == 199
    assert list(window.series["loss"]) == [1.0] * 30
    assert (window.ref.step, window.ended) == (29, True)


def test_it_never_raises(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("DEBUG_TRACER_STRICT", raising=False)
    assert judge_run(tmp_path / "nothing") == []
    assert "training goes on without it" in capsys.readouterr().err

    class Broken:
        def judge_ranks(self, windows):
            raise ValueError("no")
            yield

    assert list(judged({0: None, 1: None}, {"data/broken": Broken()})) == []  # type: ignore[dict-item]


@pytest.mark.parametrize("damaged", [b"", b"{not json"])
def test_a_rank_that_wrote_nothing_is_an_empty_window(tmp_path, damaged):
    run = a_run(tmp_path, {0: [a_replica(0)], 1: []})
    (run / "rank=1" / "events.jsonl").write_bytes(damaged)
    assert judge_run(run) == []
