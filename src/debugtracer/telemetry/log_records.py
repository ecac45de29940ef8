"""Verdicts, findings above a note, actions and their effects as log records of OpenTelemetry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from debugtracer.telemetry.reading import Reading
from debugtracer.trace.events import Acted, ActionEffect, AnyEvent, Diagnosed, Found, Incident
from debugtracer.trace.verdict import Verdict
from debugtracer.views.words.action_lines import line_of

SEVERITIES = {"note": 9, "warning": 13, "error": 17}  # numbers of OpenTelemetry: INFO, WARN, ERROR
GRAVE = {"stop": "error", "pause": "error", "roll-back": "warning"}  # the other actions are notes


def log_records(reading: Reading) -> Iterator[Any]:
    """Make a record of each new event that a person would want to read."""
    from opentelemetry._logs import LogRecord, SeverityNumber

    for event in reading.events:
        told = said(event)
        if told is None:
            continue
        severity, name, text, more = told
        place: dict[str, Any] = {"debugtracer.run": reading.run, "debugtracer.rank": event.rank}
        if event.trace_id:
            place["debugtracer.trace_id"] = event.trace_id
        known = {f"debugtracer.{key}": value for key, value in more.items() if value is not None}
        yield LogRecord(
            timestamp=int(event.at * 1e9),
            observed_timestamp=int(event.at * 1e9),
            severity_number=SeverityNumber(SEVERITIES[severity]),
            severity_text=severity,
            body=text,
            event_name=f"debugtracer.{name}",
            attributes={**place, **known},
        )


def said(event: AnyEvent) -> tuple[str, str, str, dict[str, Any]] | None:
    """Return severity, name, text and attributes; None where nobody is told."""
    if isinstance(event, Incident | Diagnosed) and event.verdict is not None:
        verdict = event.verdict
        return "error", "verdict", "\n".join([verdict.summary, *verdict.remedy]), of_verdict(verdict)
    if isinstance(event, Found) and event.finding.severity != "note":
        found = event.finding
        return found.severity, "finding", found.message, {"check": found.check, "step": found.step}
    if isinstance(event, Acted):
        more = {"action": event.action, "step": event.step}
        return GRAVE.get(event.action, "note"), "action", f"step {event.step} - {event.reason}", more
    if isinstance(event, ActionEffect):
        line = line_of(event)
        return "note", "effect", f"step {line.step} - {line.text}", {"step": line.step, "helped": event.bad == 0}
    return None


def of_verdict(verdict: Verdict) -> dict[str, Any]:
    """The attributes by which its cause and place are found."""
    return {
        "class": verdict.kind,
        "cause": verdict.cause,
        "symptom": verdict.symptom,
        "status": verdict.status,
        "confidence": verdict.confidence,
        "step": verdict.step,
        "op": verdict.op,
        "module": verdict.module,
        "param": verdict.param,
        "sample_index": verdict.sample_index,
        "code.file.path": verdict.file,
        "code.line.number": verdict.line,
    }
