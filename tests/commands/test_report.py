"""The command `debug-tracer report`."""

from __future__ import annotations

import json
import math

import pytest
import typer
from typer.testing import CliRunner

from debugtracer.commands.report import report
from debugtracer.diagnosis.proof.rank import rank
from debugtracer.errors import DebugTracerError, TraceError, UsageError
from debugtracer.testing import AT, a_finding, a_masked_row, a_trace, an_incident
from debugtracer.trace.events import Found
from tests.imports.logs import trainer_state

app = typer.Typer()
app.command()(report)


def call(*words):
    return CliRunner().invoke(app, [str(w) for w in words])


def sentence(*words):
    """The one sentence of an error; main() prints it and ends with status 2."""
    error = call(*words).exception
    assert isinstance(error, DebugTracerError)
    return str(error)


@pytest.fixture
def run(tmp_path):
    facts = a_masked_row()
    return a_trace(tmp_path, an_incident(facts, rank(facts)), Found(at=AT, finding=a_finding()))


def test_json_goes_to_stdout(run):
    result = call(run, "--format", "json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["verdict"]["class"] == "masked_softmax_all_masked"


def test_a_folder_of_runs_means_its_latest(run):
    assert json.loads(call(run.parent, "--format", "json").stdout)["run"]["id"] == "run-1"


def test_several_formats_need_a_folder(run, tmp_path):
    assert sentence(run, "--format", "json,terminal") == "--format: one format goes to stdout; several need -o FOLDER"
    assert call(run, "--format", "json,terminal,markdown", "-o", tmp_path / "out").exit_code == 0
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["report.json", "report.md", "report.txt"]


def test_one_format_is_written_to_the_file_that_was_named(run, tmp_path):
    assert call(run, "--format", "json", "-o", tmp_path / "deep" / "r.json").exit_code == 0
    assert json.loads((tmp_path / "deep" / "r.json").read_text())["schema"] == "debug-tracer.report/1"


def test_a_format_that_is_not_there_names_those_that_are(run):
    assert (
        sentence(run, "--format", "xlsx")
        == "--format xlsx: there is no such view in this version; there are html, json, markdown, sarif, terminal"
    )
    assert (
        sentence(run, "--format", "yaml")
        == "--format yaml: there is no such view; there are html, json, markdown, sarif, terminal"
    )


@pytest.mark.parametrize(("word", "status"), [("error", 3), ("warning", 3), ("note", 3), ("off", 0)])
def test_fail_on_ends_with_3_when_a_finding_is_that_severe(run, word, status):
    assert call(run, "--format", "json", "--fail-on", word).exit_code == status


def test_fail_on_passes_a_healthy_run_and_refuses_other_words(tmp_path):
    healthy = a_trace(tmp_path, exit_code=0, stopped=False)
    assert call(healthy, "--fail-on", "note").exit_code == 0
    assert sentence(healthy, "--fail-on", "fatal") == "--fail-on fatal: expected off, note, warning, error"


def test_batch_shows_the_rows_of_the_incident(run):
    incident = run / "incidents" / "step-000048-rank0"
    incident.mkdir(parents=True)
    rows = [
        {
            "row": 31,
            "index": 931,
            "guilty": True,
            "leaves": [{"name": "batch[0]", "dtype": "int64", "shape": [12], "low": 0, "high": 0, "values": [0, 0]}],
        }
    ]
    (incident / "batch.json").write_text(json.dumps({"version": 1, "rows": rows}))
    assert "> " in call(run, "--batch").stdout
    assert "931" in call(run, "--batch").stdout


def test_batch_without_an_incident_is_one_sentence(tmp_path):
    assert "no incident was saved in this run" in sentence(a_trace(tmp_path), "--batch")


def test_no_run_is_one_sentence(tmp_path):
    assert "does not exist; expected a run folder" in sentence(tmp_path / "nothing")


def test_a_run_whose_manifest_is_cut_is_one_sentence(run):
    (run / "run.json").write_text('{"version": 1, "id"')
    assert isinstance(call(run).exception, TraceError)


def test_an_event_file_whose_last_line_is_torn_is_still_read(run):
    with (run / "rank=0" / "events.jsonl").open("a") as file:
        file.write('{"type": "found", "finding": {"che')
    assert call(run).exit_code == 0


def test_an_output_that_cannot_be_written_is_one_sentence(run, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        report(run, "json", tmp_path / "file" / "r.json", "off", False)


def test_recheck_shows_the_findings_of_now_and_says_so(run):
    stored = json.loads(call(run, "--format", "json").stdout)["findings"]
    result = call(run, "--format", "json", "--recheck", "--fail-on", "note")
    assert [f["check"] for f in stored] == ["numerics/nan-loss"]
    # its series hold no NaN: the stored finding stood for itself
    assert (json.loads(result.stdout)["findings"], result.exit_code) == ([], 0)
    assert "debug-tracer: judged again: 0 findings, 1 when it ran." in result.stderr


def test_an_option_of_a_check_is_used_said_and_refused_when_it_is_not_there(run):
    assert "has no option 'limit'" in sentence(run, "--option", "nan-loss.limit=3")
    assert sentence(run, "--preset", "strict") == "--preset strict: there is no such preset; there are default, seed"
    assert "judged again, preset seed: " in call(run, "--preset", "seed").stderr


def test_a_log_of_others_is_imported_judged_and_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    state = trainer_state(tmp_path / "checkpoint-150", [0.7, 0.6, math.nan])
    result = call(state, "--format", "json", "--fail-on", "error")
    assert result.exit_code == 3
    assert {f["check"]: f["step"] for f in json.loads(result.stdout)["findings"]}["numerics/nan-loss"] == 150
    assert (
        "(Hugging Face trainer_state.json) into the run folder debug-tracer-runs/imported-checkpoint-150"
        in result.stderr
    )
    assert json.loads(call("--format", "json").stdout) == json.loads(result.stdout)


def test_a_file_that_is_no_log_is_one_sentence(tmp_path):
    (tmp_path / "notes.txt").write_text("")
    assert (
        "notes.txt is no log that can be imported; expected a run folder, a trainer_state.json, a metrics.csv or"
        in sentence(tmp_path / "notes.txt")
    )
