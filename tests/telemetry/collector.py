"""A real OTLP/HTTP receiver on this machine: it decodes what is sent with OpenTelemetry's own messages."""

from __future__ import annotations

import gzip
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Collector:
    """Its address, and what came: metrics by name, log bodies by event name, spans."""

    address: str = ""
    metrics: dict[str, list[Any]] = field(default_factory=dict)
    logs: list[Any] = field(default_factory=list)
    spans: list[Any] = field(default_factory=list)

    def take(self, path: str, body: bytes) -> None:
        """Decode one request."""
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
        from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        if path == "/v1/metrics":
            for of_resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for scope in of_resource.scope_metrics:
                    for metric in scope.metrics:
                        points = metric.gauge.data_points or metric.sum.data_points
                        self.metrics.setdefault(metric.name, []).extend(points)
        elif path == "/v1/logs":
            for logs in ExportLogsServiceRequest.FromString(body).resource_logs:
                self.logs += [record for scope in logs.scope_logs for record in scope.log_records]
        elif path == "/v1/traces":
            for traces in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.spans += [span for scope in traces.scope_spans for span in scope.spans]


@contextmanager
def collecting(status: int = 200, rest_s: float = 0.0) -> Iterator[Collector]:
    """A receiver that answers with this status after so long, for the with block."""
    collector = Collector()
    closing = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            collector.take(self.path, body)
            closing.wait(rest_s)
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            return None

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    collector.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield collector
    finally:
        closing.set()
        server.shutdown()
        server.server_close()
