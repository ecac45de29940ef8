"""The whole way round with the real Prometheus and Alertmanager: a run is scraped, its incident fires a rule, and the
alert pauses it. Left out where their Debian packages are not installed."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import debugtracer.telemetry
from tests.extras import needs
from tests.telemetry.test_telemetry import command, training

RULES = """
groups:
  - name: answers
    rules:
      - alert: PauseAtIncident
        expr: debugtracer_incidents_total > 0
        labels: {debug_tracer_response: pause}
"""
PROMETHEUS = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [rules.yml, answers.yml]
scrape_configs:
  - job_name: training
    static_configs: [{{targets: ['{run}']}}]
alerting:
  alertmanagers:
    - static_configs: [{{targets: ['127.0.0.1:{alertmanager}']}}]
"""
ALERTMANAGER = """
route: {{receiver: run, group_wait: 0s, group_interval: 1s, repeat_interval: 1h}}
receivers:
  - name: run
    webhook_configs:
      - url: http://{run}/alert
        http_config: {{authorization: {{credentials: the-token}}}}
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


def asked(address: str) -> Any:
    with urllib.request.urlopen(address, timeout=5) as answer:
        return json.loads(answer.read())


@contextlib.contextmanager
def serving(folder: Path, *words: str) -> Iterator[None]:
    log = (folder / f"{Path(words[0]).name}.log").open("w")
    with subprocess.Popen(words, cwd=folder, stdout=log, stderr=log) as server:
        try:
            yield
        finally:
            server.terminate()


@pytest.mark.sweep
def test_an_incident_is_scraped_fires_and_pauses_the_run(tmp_path: Path) -> None:
    needs("prometheus_client")
    prometheus, alertmanager = shutil.which("prometheus"), shutil.which("prometheus-alertmanager")
    if prometheus is None or alertmanager is None:
        pytest.skip("prometheus and prometheus-alertmanager are not installed (Debian packages)")
    port, own = free_port(), free_port()
    words, env = command(tmp_path, 1000, "--metrics-port", "0")
    with training(words, tmp_path, env) as run:
        assert run.stderr is not None
        (address,) = re.findall(r"metrics at http://([\d.:]+)/metrics$", run.stderr.readline().strip())
        shutil.copy(Path(debugtracer.telemetry.__file__).parent / "rules.yml", tmp_path)
        (tmp_path / "answers.yml").write_text(RULES)
        (tmp_path / "prometheus.yml").write_text(PROMETHEUS.format(run=address, alertmanager=own))
        (tmp_path / "alertmanager.yml").write_text(ALERTMANAGER.format(run=address))
        store, listen = f"--storage.tsdb.path={tmp_path}/tsdb", f"--web.listen-address=127.0.0.1:{port}"
        of_alerts = [f"--storage.path={tmp_path}/am", f"--web.listen-address=127.0.0.1:{own}"]
        with (
            serving(tmp_path, alertmanager, "--config.file=alertmanager.yml", "--cluster.listen-address=", *of_alerts),
            serving(tmp_path, prometheus, "--config.file=prometheus.yml", store, listen),
        ):
            status: list[Any] = []
            end = time.monotonic() + 180  # two servers start, on a machine that may be busy
            while not status:
                assert time.monotonic() < end and run.poll() is None
                time.sleep(0.5)
                with contextlib.suppress(OSError):
                    query = "debugtracer_run_status%7Bstatus%3D%22paused%22%7D%20%3D%3D%201"
                    status = asked(f"http://127.0.0.1:{port}/api/v1/query?query={query}")["data"]["result"]
            firing = {
                one["labels"]["alertname"] for one in asked(f"http://127.0.0.1:{port}/api/v1/alerts")["data"]["alerts"]
            }
        (folder,) = (path for path in (tmp_path / "runs").iterdir() if not path.is_symlink())
        (folder / "control").write_text("stop")
        told = run.stderr.read()
        run.wait()
    assert run.returncode == 3 and "a person has asked for it - the run waits" in told
    assert {"PauseAtIncident", "TrainingIncident"} <= firing
