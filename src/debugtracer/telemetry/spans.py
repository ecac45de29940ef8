"""Sampled steps, and the replays of bad ones with their trials, as spans of OpenTelemetry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from debugtracer.telemetry.reading import Reading
from debugtracer.trace.events import Incident


@dataclass(frozen=True)
class Span:
    """One span with what lies within it; times in seconds since the epoch."""

    name: str
    begin_s: float
    end_s: float
    attributes: Mapping[str, Any] = field(default_factory=dict)
    within: tuple[Span, ...] = ()
    failed: str = ""
    """Why it did not go well; empty where it did."""

    def make(self, tracer: Any, context: Any = None) -> None:
        """Hand it to a tracer, ended."""
        from opentelemetry.trace import Status, StatusCode, set_span_in_context

        known = {f"debugtracer.{name}": value for name, value in self.attributes.items() if value is not None}
        span = tracer.start_span(self.name, context, attributes=known, start_time=int(self.begin_s * 1e9))
        for one in self.within:
            one.make(tracer, set_span_in_context(span))
        if self.failed:
            span.set_status(Status(StatusCode.ERROR, self.failed))
        span.end(int(self.end_s * 1e9))


def spans(reading: Reading) -> Iterator[Span]:
    """Make a span of each sampled step, and one of each replay."""
    for step in reading.steps:
        place = {"run": reading.run, "rank": step.rank, "step": step.step}
        yield Span("step", step.begin_s, step.end_s, {**place, **step.numbers})
    for event in reading.events:
        if isinstance(event, Incident):
            yield replay(event, reading.run)


def replay(event: Incident, run: str) -> Span:
    """Make the span of one incident, from its alarm to its verdict: its trials came last, one after the other."""
    facts, verdict = event.facts, event.verdict
    took_s = verdict.seconds if verdict is not None else 0.0
    end_s, within = event.at, list[Span]()
    for trial in reversed(verdict.trials if verdict is not None else ()):
        more = {"outcome": trial.outcome, "repeats": trial.repeats}
        within.insert(0, Span(f"trial {trial.intervention}", end_s - trial.seconds, end_s, more))
        end_s -= trial.seconds
    attributes = {
        "run": run,
        "rank": event.rank,
        "step": facts.ref.step,
        "trace_id": event.trace_id,
        "symptom": facts.symptom,
        "cause": verdict.cause if verdict is not None else None,
    }
    begin_s = min(event.at - took_s, end_s)
    why = verdict.summary if verdict is not None else facts.symptom
    return Span("replay", begin_s, event.at, attributes, tuple(within), why)
