"""A log becomes a run folder."""

from __future__ import annotations

import math

import pytest

from debugtracer.imports.importer import Log
from debugtracer.imports.run_folder import import_run
from debugtracer.testing import a_finding
from debugtracer.trace.events import Found, Noted
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.json_report import report

POINTS = {49: {"loss": 0.75}, 99: {"loss": math.nan, "logged/acc": 0.5}}


def log(path, points=None):
    return Log(path / "checkpoint-100" / "trainer_state.json", "Hugging Face trainer_state.json", points or POINTS)


def test_the_run_holds_every_number_at_its_step_and_what_was_found(tmp_path):
    seen = []
    run = import_run(
        log(tmp_path),
        tmp_path / "runs",
        lambda trace: seen.append(trace.series("loss")[0]) or [Found(at=1.0, finding=a_finding(step=99))],
    )
    trace = open_trace(run)
    assert seen == [[49, 99]]
    assert run.name == "imported-checkpoint-100"
    assert trace.series("logged/acc") == ([99], [0.5])
    steps, losses = trace.series("loss")
    assert (steps, losses[0], math.isnan(losses[1])) == ([49, 99], 0.75, True)
    assert [e.finding.step for e in trace.events() if isinstance(e, Found)] == [99]
    assert [e.text for e in trace.events() if isinstance(e, Noted) and e.what == "imported"] == [
        f"{log(tmp_path).format}: {log(tmp_path).source}"
    ]
    assert (trace.manifest.status, report(trace)["run"]["steps"]) == ("ended", 100)


def test_a_second_import_of_the_same_log_stands_beside_the_first(tmp_path):
    first, second = (import_run(log(tmp_path), tmp_path / "runs", lambda _: ()) for _ in range(2))
    assert (first.name, second.name) == ("imported-checkpoint-100", "imported-checkpoint-100-2")


def test_where_no_folder_can_be_made_the_temporary_one_serves(tmp_path):
    (tmp_path / "file").write_text("")
    run = import_run(log(tmp_path), tmp_path / "file" / "runs", lambda _: ())
    assert open_trace(run).series("loss")[0] == [49, 99]


@pytest.mark.parametrize(
    ("name", "run"),
    [("loss curve.csv", "imported-loss-curve"), ("metrics.csv", "imported-version_0"), ("..csv", "imported-.")],
)
def test_a_table_gives_its_own_name_unless_it_is_the_usual_one(tmp_path, name, run):
    made = import_run(Log(tmp_path / "version_0" / name, "CSV", POINTS), tmp_path / "runs", lambda _: ())
    assert made.name == run


def test_a_long_log_arrives_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("debugtracer.imports.run_folder.FLUSH_POINTS", 1000)
    run = import_run(log(tmp_path, {n: {"loss": 1.0} for n in range(0, 100_000, 20)}), tmp_path / "runs", lambda _: ())
    assert open_trace(run).series("loss")[0] == list(range(0, 100_000, 20))
