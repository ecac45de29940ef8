"""Sampled steps and replays become spans with their own times; trials lie within their replay."""

from __future__ import annotations

from typing import Any

from debugtracer.telemetry.reading import Reading, SampledStep
from debugtracer.telemetry.spans import Span, replay, spans
from debugtracer.testing import a_masked_row, an_incident
from tests.extras import needs
from tests.telemetry.runs import VERDICT


def test_a_replay_holds_its_trials() -> None:
    event = an_incident(a_masked_row(), VERDICT)
    whole = replay(event, "run-1")
    (trial,) = whole.within
    assert (whole.begin_s, whole.end_s) == (event.at - 2.0, event.at)
    assert trial.name == "trial unchanged" and (trial.begin_s, trial.end_s) == (event.at - 0.25, event.at)
    assert whole.failed == VERDICT.summary and whole.attributes["cause"] == "labels-all-ignored"
    bare = replay(an_incident(a_masked_row(), None), "run-1")
    assert bare.within == () and bare.begin_s == bare.end_s and bare.failed == "nan_loss"


def test_they_are_made_as_they_are() -> None:
    needs("opentelemetry.sdk")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    reading = Reading(
        "a", steps=(SampledStep(0, 100, 5.0, 5.5, {"loss": 0.1}),), events=(an_incident(a_masked_row(), VERDICT),)
    )
    for span in spans(reading):
        span.make(provider.get_tracer("test"))
    step, trial, whole = kept.get_finished_spans()
    assert (step.start_time, step.end_time) == (5_000_000_000, 5_500_000_000)
    assert dict(step.attributes or {}) == {
        "debugtracer.run": "a", "debugtracer.rank": 0, "debugtracer.step": 100, "debugtracer.loss": 0.1,
    }  # fmt: skip
    parent: Any = trial.parent
    assert parent.span_id == whole.context.span_id and whole.status.status_code.name == "ERROR"
    assert isinstance(next(iter(spans(reading))), Span)
