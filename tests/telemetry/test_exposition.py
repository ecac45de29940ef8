"""What is given out is read back by Prometheus' own parser: every metric is a promised one."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

from debugtracer.errors import UsageError
from debugtracer.telemetry.exposition import Exposition
from debugtracer.telemetry.metric import METRICS, Sample
from debugtracer.telemetry.reading import Reading
from debugtracer.telemetry.run_reader import RunReader
from tests.extras import needs
from tests.telemetry.runs import ended_run


def test_it_is_read_back(tmp_path: Path) -> None:
    needs("prometheus_client")
    from prometheus_client.parser import text_string_to_metric_families

    exposition = Exposition()
    assert exposition.text("")[0].strip() == b""
    exposition.take(RunReader(ended_run(tmp_path)).read())
    body, kind = exposition.text("text/plain")
    assert kind.startswith("text/plain")
    samples = [sample for family in text_string_to_metric_families(body.decode()) for sample in family.samples]
    known = {metric.prometheus: metric for metric in METRICS.values()}
    for sample in samples:
        assert set(sample.labels) == {"run", *known[sample.name].labels}
    assert {s.value for s in samples if s.name == "debugtracer_steps_total"} == {49.0}


def test_strange_names_and_values_are_escaped() -> None:
    needs("prometheus_client")
    from prometheus_client.parser import text_string_to_metric_families

    name = 'a"b\\c\nd'
    exposition = Exposition()
    exposition.take(Reading(name, samples=(Sample("loss", math.nan, {"rank": "0"}),)))
    ((sample,),) = (family.samples for family in text_string_to_metric_families(exposition.text("")[0].decode()))
    assert sample.labels["run"] == name and math.isnan(sample.value)
    assert exposition.text("application/openmetrics-text; version=1.0.0")[0].endswith(b"# EOF\n")
    exposition.end()


def test_without_the_package_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(UsageError, match=r"pip install 'torch-debug-tracer\[metrics\]'"):
        Exposition()
