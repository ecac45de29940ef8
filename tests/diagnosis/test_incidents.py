"""From an alarm to the folder, the events and the words on stderr."""

from __future__ import annotations

import json

import pytest
import torch

from debugtracer.errors import StoppedByTracer
from debugtracer.trace.events import Acted, Found, Incident, Noted
from debugtracer.trace.store.reader import open_trace
from tests.watching import LogHead, batches, events, only, seeded, train, under_watch


def test_an_incident_leaves_a_capsule_the_guilty_rows_and_its_events_in_order(tmp_path, capsys):
    with under_watch(tmp_path):
        train(seeded(LogHead), batches(4, bad=2))
    incident = only(tmp_path)
    folder = open_trace(tmp_path).path / incident.folder
    assert incident.folder == "incidents/step-000002-rank0"
    assert {"program.json.gz", "batch.json"} <= {p.name for p in folder.iterdir()}
    assert json.loads((folder / "batch.json").read_text())
    assert [type(e) for e in events(tmp_path) if isinstance(e, (Found, Incident, Acted))] == [Found, Incident]
    assert capsys.readouterr().err.startswith("debug-tracer: the loss is not finite at step 2, rank 0\n")


def test_a_stop_is_with_the_disk_before_it_is_raised(tmp_path):
    with under_watch(tmp_path, mode="dev"):
        with pytest.raises(StoppedByTracer):
            train(seeded(LogHead), batches(4, bad=2))
        acted = [e for e in events(tmp_path) if isinstance(e, Acted)]
    assert [(e.action, e.step, e.iteration) for e in acted] == [("stop", 2, 2)]
    assert acted[0].reason == only(tmp_path).verdict.summary


def test_a_step_too_large_for_a_capsule_is_reported_all_the_same_and_noted(tmp_path):
    with under_watch(tmp_path, capsule_bytes=8):
        train(seeded(LogHead), batches(4, bad=2))
    assert only(tmp_path).verdict.op == "aten::log"
    assert [e.what for e in events(tmp_path) if isinstance(e, Noted)].count("no-capsule") == 1
    assert not list(open_trace(tmp_path).path.rglob("program.json.gz"))


def test_one_fault_that_goes_on_is_one_incident_and_a_new_one_after_healthy_steps_another(tmp_path):
    def loop(bad: set[int]) -> None:
        model = seeded(LogHead)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        good, evil = batches(1)[0], batches(1, bad=0)[0]
        for n in range(9):
            optimizer.zero_grad()
            loss = model(evil if n in bad else good).pow(2).mean()
            if torch.isfinite(loss):
                loss.backward()
                optimizer.step()

    with under_watch(tmp_path):
        loop({2, 3, 7})
    assert len([e for e in events(tmp_path) if isinstance(e, Incident)]) == 2
