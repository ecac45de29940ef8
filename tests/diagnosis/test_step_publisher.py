"""The numbers of a step: judged, remembered and written, together with what the observers have put beside them."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer import errors
from debugtracer.trace.events import Observed
from debugtracer.trace.facts.overflow_flag import OverflowFlag
from debugtracer.trace.store.reader import open_trace
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
