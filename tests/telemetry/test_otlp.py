"""A collector gets metrics, verdicts and spans; one that is dead, slow or refuses costs one line and a bounded end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from debugtracer.errors import UsageError
from debugtracer.telemetry.otlp import Otlp
from debugtracer.telemetry.run_reader import RunReader
from tests.extras import needs
from tests.telemetry.collector import collecting
from tests.telemetry.runs import LiveRun, noteworthy


@pytest.fixture(autouse=True)
def one_logger() -> Iterator[None]:
    """The SDK logs to one logger of the process; each test has its own listener."""
    import logging

    logger = logging.getLogger("opentelemetry")
    before = list(logger.handlers)
    yield
    logger.handlers[:] = before


def sent(address: str, folder: Path) -> float:
    """Send a run with everything in it; how long its end took."""
    needs("opentelemetry.sdk")
    live = LiveRun(folder)
    live.train(101)
    live.tell(*noteworthy())
    otlp = Otlp(address, "live")
    otlp.start()
    otlp.take(RunReader(live.path).read())
    began = time.monotonic()
    otlp.end()
    return time.monotonic() - began


def test_metrics_verdicts_and_spans_arrive(tmp_path: Path) -> None:
    with collecting() as collector:
        sent(collector.address + "/", tmp_path)
    assert {p.as_double for p in collector.metrics["debugtracer.steps"]} == {101.0}
    assert collector.metrics["debugtracer.loss"][0].as_double == 0.5
    labels = {pair.key: pair.value.string_value for pair in collector.metrics["debugtracer.incidents"][0].attributes}
    assert labels == {"run": "live", "rank": "0", "symptom": "nan_loss", "cause": "labels-all-ignored"}
    assert sorted(record.event_name for record in collector.logs) == [
        "debugtracer.action", "debugtracer.finding", "debugtracer.verdict",
    ]  # fmt: skip
    assert sorted(span.name for span in collector.spans) == ["replay", "step", "step", "trial unchanged"]


@pytest.mark.parametrize("status", [400, 500])
def test_one_that_refuses_is_one_line(status: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with collecting(status) as collector:
        assert sent(collector.address, tmp_path) < 7
    assert capfd.readouterr().err.count("127.0.0.1 did not take what was sent over OTLP") == 1


def test_one_that_is_not_there_is_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert sent("http://127.0.0.1:1", tmp_path) < 7
    said = capfd.readouterr().err
    assert said.count("\n") == 1 and "training goes on" in said


def test_one_that_is_slow_does_not_keep_the_run(tmp_path: Path) -> None:
    with collecting(rest_s=60) as collector:
        assert sent(collector.address, tmp_path) < 7


def test_without_the_packages_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
    with pytest.raises(UsageError, match=r"pip install 'torch-debug-tracer\[otel\]'"):
        Otlp("http://localhost:4318", "a")
