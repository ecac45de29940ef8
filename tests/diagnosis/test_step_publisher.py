"""The numbers of a step: judged, remembered and written, together with what the observers have put beside them."""

from __future__ import annotations

import random

import torch
from torch import nn

from debugtracer import errors
from debugtracer.diagnosis.judging.live_checks import LATE, SOON
from debugtracer.diagnosis.run_findings import KEPT
from debugtracer.trace.events import Noted, Observed
from debugtracer.trace.facts.overflow_flag import OverflowFlag
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.window import DEPTH
from tests.watching import batches, events, train, under_watch


def test_numbers_and_facts_of_the_observers_go_out_with_the_step(tmp_path):
    with under_watch(tmp_path) as watching:
        model = nn.Linear(4, 4)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in batches(2):
            optimizer.zero_grad()
            model(x).pow(2).mean().backward()
            watching.observed_run.put("tracked/word", float(watching.state.step))
            watching.observed_run.emit(OverflowFlag(ref=watching.observed_run.ref(), device="npu", since=0))
            optimizer.step()
            assert watching.observed_run.facts == [] and watching.observed_run.values == {}
        assert list(watching.incidents.findings.recent["tracked/word"]) == [0.0, 1.0]
    assert open_trace(tmp_path).series("tracked/word") == ([0, 1], [0.0, 1.0])
    assert [
        e.fact["ref"]["step"]
        for e in events(tmp_path)
        if isinstance(e, Observed) and e.word.startswith("overflow-flag")
    ] == [0, 1]


def test_numbers_are_written_when_the_checks_fail(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("DEBUG_TRACER_STRICT")
    monkeypatch.setattr(errors, "failures", {})
    with under_watch(tmp_path) as watching:
        monkeypatch.setattr(watching.incidents.findings, "jumps", None)
        train(nn.Linear(4, 4), batches(2))
    assert "diagnosis.step_publisher" in errors.failures
    assert open_trace(tmp_path).series("loss")[0] == [0, 1]


LONG = 20_000  # steps of a run that is long for a test
MOST_BYTES, MOST_EVENTS = 60, 20_000  # bytes of series per step, and of events in the whole run


def test_a_long_run_of_cheap_steps_keeps_little_in_memory_and_on_disk(tmp_path):
    with under_watch(tmp_path, flush_s=600.0) as watching:
        watching.output.open()
        noise = random.Random(0)
        for step in range(LONG):
            values = {name: noise.gauss(2.0, 0.1) for name in ("loss", "grad_l2", "param_l2", "step_s")}
            watching.health_gate.sink.publish(step, values | {"lr": 0.1})
            watching.state.step = watching.state.iteration = step + 1
        findings, writer = watching.incidents.findings, watching.output.writer
        live = findings.live
        assert len(live.queue) <= 2 * LATE + LONG // LATE  # halves of halves, each rounded up
        assert live.given == LONG
        assert {len(values) for values in findings.recent.values()} == {KEPT}
    assert max(map(len, live.judge.series.values())) <= DEPTH
    assert live.steps + live.thinned == LONG
    assert live.steps > SOON
    assert len(writer.points) == 0
    files = {path.name: path.stat().st_size for path in (open_trace(tmp_path).path / "rank=0").iterdir()}
    assert files.pop("events.jsonl") < MOST_EVENTS
    assert sum(files.values()) < MOST_BYTES * LONG
    assert open_trace(tmp_path).series("loss")[0] == list(range(LONG))
    notes = [e.text for e in events(tmp_path) if isinstance(e, Noted) and e.what == "judge-thinned"]
    assert [text.split(" steps ")[0] for text in notes] == [f"{live.thinned} of {LONG}"]
