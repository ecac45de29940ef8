"""A run as others monitor theirs: metrics for Prometheus and OpenTelemetry, logs, spans, and an alert that may answer.
It reads the run folder, in the process of `debug-tracer run`; nothing of it runs where training does."""
