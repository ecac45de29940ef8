"""The database is read back by MLflow's own client; without the package one sentence says what to install."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

from debugtracer.errors import UsageError
from debugtracer.exports.mlflow import MlFlow, batches, named
from debugtracer.testing import a_finding, a_trace
from debugtracer.trace.events import Found
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.writer import TraceWriter


def test_names_that_it_refuses_are_made_plain_and_stay_apart() -> None:
    series = [(name, [0], [1.0]) for name in ("gradient/fc1.weight", "a<b", "a>b", "../../x", "", "层")]
    told = [name for name, _, _ in named(series)]
    assert told == ["gradient/fc1.weight", "a_b", "a_b 2", "_/_/x".removeprefix("_/_/"), "_", "层"]


def test_batches_are_of_the_size_it_takes() -> None:
    assert [len(batch) for batch in batches(range(2500))] == [1000, 1000, 500]


def test_without_the_package_one_sentence_says_what_to_install(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(UsageError, match=r"pip install 'torch-debug-tracer\[mlflow\]'"):
        MlFlow().write(open_trace(a_trace(tmp_path)), tmp_path)


@pytest.mark.sweep  # it takes ten seconds to make its tables, and is large to install
def test_its_own_client_finds_every_metric_and_the_finding(tmp_path: Path) -> None:
    pytest.importorskip("alembic")
    client_of = pytest.importorskip("mlflow").MlflowClient
    run = a_trace(tmp_path, Found(at=1.0, rank=0, finding=a_finding(message="层 <b>nan</b>")), ranks=2, steps=1200)
    bad = TraceWriter(tmp_path / "other", 0)
    bad.point(3, {"val <b>": math.nan})
    bad.close()
    (sealed,) = (tmp_path / "other" / "rank=0").glob("series-*.parquet")
    sealed.rename(run / "rank=0" / "series-000099.parquet")
    trace = open_trace(run)
    path = MlFlow().write(trace, tmp_path)
    client = client_of(tracking_uri=f"sqlite:///{path}")
    (experiment,) = [e for e in client.search_experiments() if e.name == "debug-tracer"]
    runs = {one.info.run_name: one for one in client.search_runs([experiment.experiment_id])}
    assert sorted(runs) == ["run-1-rank0", "run-1-rank1"]
    first = runs["run-1-rank0"]
    for one in runs.values():
        points = client.get_metric_history(one.info.run_id, "loss")
        assert ([p.step for p in points], [p.value for p in points]) == trace.series("loss", 0)
    (point,) = client.get_metric_history(first.info.run_id, "val _b_")
    assert point.step == 3 and math.isnan(point.value)
    assert (first.info.status, first.data.params["exit_code"]) == ("FAILED", "3")
    found = list((tmp_path / "artifacts").rglob("findings.json"))
    assert len(found) == 1 and "nan-loss" in found[0].read_text()
