"""The last reading as text that Prometheus scrapes. Needs the package prometheus-client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from debugtracer.errors import UsageError
from debugtracer.telemetry.metric import METRICS, PREFIX, Metric
from debugtracer.telemetry.reading import Reading


class Exposition:
    """A receiver that keeps the newest reading; a scrape reads no file."""

    def __init__(self) -> None:
        """Take nothing yet. Raises UsageError without the package."""
        try:
            from prometheus_client import CollectorRegistry
        except ImportError:
            raise UsageError(
                "--metrics-port: prometheus-client is not installed: pip install 'torch-debug-tracer[metrics]'"
            ) from None
        self.reading = Reading()
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def take(self, reading: Reading) -> None:
        """Keep a reading to answer from."""
        self.reading = reading

    def end(self) -> None:
        """Do nothing: nothing is open."""

    def text(self, accept: str) -> tuple[bytes, str]:
        """The exposition and its content type, in the format that the scraper asks for."""
        from prometheus_client.exposition import choose_encoder

        encode, kind = choose_encoder(accept)
        return encode(self._registry), kind

    def collect(self) -> Iterator[Any]:
        """Yield every metric that has a value, as prometheus-client asks for them."""
        reading = self.reading
        for metric in METRICS.values():
            family = family_of(metric)
            for sample in reading.samples:
                if sample.word == metric.word:
                    family.add_metric([reading.run, *(sample.labels[name] for name in metric.labels)], sample.value)
            if family.samples:
                yield family


def family_of(metric: Metric) -> Any:
    """Make a metric without values."""
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    kind = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
    return kind(f"{PREFIX}_{metric.word}", metric.about, labels=["run", *metric.labels])
