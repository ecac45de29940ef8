"""Verdicts, findings above a note and actions are logged, nothing else."""

from __future__ import annotations

from pathlib import Path

from debugtracer.telemetry.log_records import log_records, said
from debugtracer.telemetry.run_reader import RunReader
from debugtracer.trace.events import Acted, Noted
from tests.extras import needs
from tests.telemetry.runs import AT, ended_run, noteworthy


def test_what_is_said_of_each_event() -> None:
    told = [said(event) for event in noteworthy()]
    assert [one and one[:2] for one in told] == [
        ("error", "verdict"),
        ("error", "finding"),
        None,
        ("note", "action"),
        None,
    ]
    assert told[0] is not None and told[0][2] == "every label of the batch is ignored\ndrop such batches"
    assert told[0][3]["cause"] == "labels-all-ignored" and told[0][3]["sample_index"] == (3, 4)
    stop = said(Acted(at=AT, action="stop", iteration=1, step=1, reason="it stays"))
    assert stop is not None and stop[0] == "error"
    assert said(Noted(at=AT, what="a", text="b")) is None


def test_they_become_records(tmp_path: Path) -> None:
    needs("opentelemetry.sdk")
    verdict, *_ = [r for r in log_records(RunReader(ended_run(tmp_path)).read()) if "verdict" in r.event_name]
    assert verdict.severity_number.name == "ERROR" and verdict.attributes["debugtracer.code.line.number"] == 12
    assert verdict.attributes["debugtracer.run"] == "run-1" and "debugtracer.op" not in verdict.attributes
