"""Names of metrics are a contract with dashboards and rules of others: those that ours use exist, with their labels."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import debugtracer.telemetry
from debugtracer.telemetry.metric import METRICS

HERE = Path(debugtracer.telemetry.__file__).parent
NAMES = {metric.prometheus: metric for metric in METRICS.values()}
NAME = re.compile(r"\b(debugtracer_\w+)(?:\{([^}]*)\})?")


def expressions(file: str) -> str:
    return (HERE / file).read_text().replace('\\"', '"')


@pytest.mark.parametrize("file", ["dashboard.json", "rules.yml"])
def test_every_metric_and_label_that_is_asked_for_exists(file: str) -> None:
    asked = NAME.findall(expressions(file))
    assert len(asked) > 8
    for name, labels in asked:
        assert name in NAMES, name
        known = {"run", *NAMES[name].labels}
        assert set(re.findall(r"(\w+)\s*[=!]", labels)) <= known, (name, labels)


def test_the_dashboard_shows_every_number_of_a_run() -> None:
    shown = {name for name, _ in NAME.findall(expressions("dashboard.json"))}
    assert {name for name in NAMES if name not in shown} == {
        "debugtracer_written_timestamp_seconds",
        "debugtracer_failures_total",
    }


def test_the_dashboard_is_one_that_grafana_takes() -> None:
    board = json.loads((HERE / "dashboard.json").read_text())
    assert board["uid"] == "debug-tracer" and len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    for panel in board["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24 and panel["targets"] and panel["title"]


RULES_TEST = """
rule_files: [rules.yml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {series: 'debugtracer_loss{run="a", rank="0", instance="i"}', values: '0.5 NaN NaN NaN NaN'}
      - {series: 'debugtracer_run_status{run="a", status="running", instance="i"}', values: '1 1 1 1 1'}
      - series: 'debugtracer_incidents_total{run="a", rank="0", instance="i", symptom="nan_loss", cause="log-domain"}'
        values: '0 1 1 1 1'
    alert_rule_test:
      - {eval_time: 0m, alertname: TrainingIncident, exp_alerts: []}
      - {eval_time: 2m, alertname: TrainingLossNotFinite, exp_alerts: []}
      - eval_time: 4m
        alertname: TrainingLossNotFinite
        exp_alerts:
          - exp_labels: {severity: critical, debug_tracer_response: pause, run: a, rank: "0", instance: i}
            exp_annotations:
              summary: "a: the loss is NaN for two minutes"
              description: "In modes val and prod it is asked to pause; write `resume` or `stop` into its file control."
      - eval_time: 1m
        alertname: TrainingIncident
        exp_alerts:
          - exp_labels: {severity: critical, run: a, instance: i, symptom: nan_loss, cause: log-domain}
            exp_annotations:
              summary: "a: nan_loss, cause log-domain"
              description: "Read the verdict: debug-tracer report a"
"""


def test_prometheus_takes_the_rules_and_they_fire(tmp_path: Path) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (Debian package prometheus)")
    shutil.copy(HERE / "rules.yml", tmp_path)
    (tmp_path / "tests.yml").write_text(RULES_TEST)
    for words in (["check", "rules", "rules.yml"], ["test", "rules", "tests.yml"]):
        done = subprocess.run([promtool, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
