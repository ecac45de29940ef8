"""A run for OpenTelemetry, over OTLP/HTTP: metrics, verdicts as logs, sampled steps and replays as spans. Needs the
packages opentelemetry-sdk and opentelemetry-exporter-otlp-proto-http."""

from __future__ import annotations

import importlib
import logging
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterable
from typing import Any

from debugtracer.errors import UsageError
from debugtracer.telemetry.log_records import log_records
from debugtracer.telemetry.metric import METRICS, Metric
from debugtracer.telemetry.reading import Reading
from debugtracer.telemetry.spans import spans

TIMEOUT_S = 3.0  # seconds that the collector may take to answer (ours)
END_S = 4.0  # seconds that the end of a run may wait for it
EXPORT_S = 10.0  # seconds between two exports of the metrics
SCOPE = "debugtracer"


class Otlp:
    """One run's. A receiver of readings; the SDK sends in threads of its own, from bounded queues."""

    def __init__(self, address: str, run: str) -> None:
        """Take where to send. Raises UsageError without the packages."""
        try:
            for name in ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"):
                importlib.import_module(name)
        except ImportError as error:
            raise UsageError(f"--otlp: {error.name} is not installed: pip install 'torch-debug-tracer[otel]'") from None
        self.address, self.reading = address.rstrip("/"), Reading(run)
        self._shutdowns: list[Callable[[], object]] = []
        self._logger: Any = None
        self._tracer: Any = None

    def start(self) -> None:
        """Build the three pipes. Each has a thread: a process that has one is not to fork any more."""
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk._logs import LoggerProvider
        from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        OneLine(self.address).listen()
        resource = Resource.create({"debugtracer.run": self.reading.run})
        metrics = OTLPMetricExporter(endpoint=f"{self.address}/v1/metrics", timeout=TIMEOUT_S)
        reader = PeriodicExportingMetricReader(metrics, EXPORT_S * 1000, TIMEOUT_S * 1000)
        meters = MeterProvider([reader], resource, shutdown_on_exit=False)
        logs = LoggerProvider(resource, shutdown_on_exit=False)
        logs.add_log_record_processor(
            BatchLogRecordProcessor(OTLPLogExporter(endpoint=f"{self.address}/v1/logs", timeout=TIMEOUT_S))
        )
        tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        tracers.add_span_processor(
            BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{self.address}/v1/traces", timeout=TIMEOUT_S))
        )
        self._logger, self._tracer = logs.get_logger(SCOPE), tracers.get_tracer(SCOPE)
        self._shutdowns = [logs.shutdown, tracers.shutdown, meters.shutdown]
        meter = meters.get_meter(SCOPE)
        for metric in METRICS.values():
            make = meter.create_observable_counter if metric.kind == "counter" else meter.create_observable_gauge
            make(metric.otel, [self._observed(metric)], description=metric.about)

    def take(self, reading: Reading) -> None:
        """Keep a reading for the next export, and queue what is new in it."""
        self.reading = reading
        for record in log_records(reading):
            self._logger.emit(record)
        for span in spans(reading):
            span.make(self._tracer)

    def end(self) -> None:
        """Send what is left, or give up: a collector that is gone keeps no run from ending."""
        enders = [threading.Thread(target=shutdown, daemon=True) for shutdown in self._shutdowns]
        end_s = time.monotonic() + END_S
        for ender in enders:
            ender.start()
        for ender in enders:
            ender.join(max(0.0, end_s - time.monotonic()))

    def _observed(self, metric: Metric) -> Callable[[Any], Iterable[Any]]:
        def observe(options: Any) -> Iterable[Any]:
            from opentelemetry.metrics import Observation

            run = {"run": self.reading.run}
            return [
                Observation(float(sample.value), {**run, **sample.labels})
                for sample in self.reading.samples
                if sample.word == metric.word
            ]

        return observe


class OneLine(logging.Handler):
    """Says once, in one line, that the collector does not take what is sent; the SDK would say it again and again."""

    def __init__(self, address: str) -> None:
        super().__init__(logging.WARNING)
        self.host = urllib.parse.urlsplit(address).hostname
        self.told = False

    def listen(self) -> None:
        """Take the place of whatever would print what the SDK says."""
        logger = logging.getLogger("opentelemetry")
        logger.addHandler(self)
        logger.propagate = False

    def emit(self, record: logging.LogRecord) -> None:
        if not self.told:
            self.told = True
            print(
                f"debug-tracer: telemetry - {self.host} did not take what was sent over OTLP ({why(record)}); training "
                "goes on.",
                file=sys.stderr,
                flush=True,
            )


def why(record: logging.LogRecord) -> str:
    """What the SDK says, in one line of a bearable length."""
    return " ".join(record.getMessage().split())[:160]
