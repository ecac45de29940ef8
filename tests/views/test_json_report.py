"""The machine-readable report."""

from __future__ import annotations

import json

from debugtracer.diagnosis.proof.rank import rank
from debugtracer.testing import AT, TRAIN, a_birth, a_finding, a_masked_row, a_tensor, a_trace, an_incident, some_facts
from debugtracer.trace.birth import Frame
from debugtracer.trace.events import Acted, Found, Judged
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.json_report import JsonReport, finite, relative

VERDICT = [
    "class",
    "cause",
    "symptom",
    "layer",
    "iteration",
    "step",
    "microbatch",
    "rank",
    "phase",
    "module",
    "op",
    "direction",
    "backward_op",
    "birth_kind",
    "file",
    "line",
    "symptom_line",
    "chain",
    "param",
    "batch_rows",
    "sample_index",
    "whole_index",
    "status",
    "confidence",
    "summary",
    "remedy",
    "trials",
    "suspects",
]
BESIDE = ["change", "tested", "evidence", "against", "equivalents", "seconds", "known", "pipeline"]


def report_of(run):
    return json.loads(JsonReport().render(open_trace(run)))


def test_the_keys_are_those_of_the_contract(tmp_path):
    facts = a_masked_row()
    report = report_of(a_trace(tmp_path, an_incident(facts, rank(facts)), Found(at=AT, finding=a_finding())))
    assert list(report) == ["schema", "run", "verdict", "findings", "layers", "actions", "overhead"]
    assert report["schema"] == "debug-tracer.report/1"
    assert list(report["run"]) == [
        "id",
        "command",
        "steps",
        "iterations",
        "world_size",
        "exit_code",
        "stopped_by_tracer",
    ]
    assert list(report["verdict"]) == VERDICT + BESIDE
    assert {"check", "layer", "severity", "iteration", "step", "message"} <= set(report["findings"][0])
    assert list(report["layers"]) == ["data", "model", "optimizer", "device", "numerics", "logging", "rollback"]


def test_the_run_counts_are_the_most_that_a_rank_reached(tmp_path):
    report = report_of(a_trace(tmp_path, ranks=2, steps=7, exit_code=0, stopped=False))
    assert report["run"] == {
        "id": "run-1", "command": ["train.py"], "steps": 7, "iterations": 7, "world_size": 2, "exit_code": 0,
        "stopped_by_tracer": False,
    }  # fmt: skip
    assert report["overhead"] == {"own_time_share": 0.01, "host_syncs_per_step": 1.0}


def test_a_healthy_run_has_no_verdict_and_silent_layers(tmp_path):
    report = report_of(a_trace(tmp_path, exit_code=0, stopped=False))
    assert report["verdict"] is None
    assert report["findings"] == []
    assert (
        report["layers"]["numerics"]
        == "not measurable: nothing in half precision was seen, and every number was finite"
    )


def test_a_layer_whose_checks_were_asked_is_silent_and_one_that_saw_no_step_is_not(tmp_path):
    judged = Judged(at=AT, asked={"numerics/nan-loss": 49, "numerics/nonfinite-gradient": 49, "model/dead-relu": 1})
    layers = report_of(a_trace(tmp_path / "a", judged))["layers"]
    assert layers["model"] == "silent (1 check asked)"
    assert layers["numerics"] == "silent (2 checks asked)"
    assert layers["data"] == "not measurable: no batch of a DataLoader was seen"
    assert (
        report_of(a_trace(tmp_path / "b", steps=0))["layers"]["numerics"] == "not measurable: no training step was seen"
    )


def test_without_an_incident_the_leading_finding_is_the_verdict(tmp_path):
    finding = Finding(
        check="optimizer/missing-params", layer="optimizer", severity="error", iteration=0, step=0,
        message="step 0, rank 0: fc.weight ...", kind="optimizer_params_mismatch", exact=True,
        place=Place(param="fc.weight", module="fc", frame=Frame(file=TRAIN, line=42)), remedy=("build it later",),
    )  # fmt: skip
    report = report_of(a_trace(tmp_path, Found(at=AT, finding=finding), exit_code=0, stopped=False))
    assert list(report["verdict"]) == VERDICT + BESIDE
    assert (report["verdict"]["class"], report["verdict"]["status"], report["verdict"]["line"]) == (
        "optimizer_params_mismatch",
        "confirmed",
        42,
    )
    assert report["layers"]["optimizer"] == "fired"


def test_the_earliest_incident_is_the_verdict_and_at_one_step_the_rank_of_the_birth(tmp_path):
    received = some_facts(
        a_birth(None, kind="input", direction="input", input_name="gradient w"), rank=0, step=5, symptom="inf_grad"
    )
    born = some_facts(a_birth("aten::log", a_tensor(0.0)), rank=1, step=5)
    later = some_facts(a_birth("aten::exp", a_tensor(99.0)), rank=0, step=9)
    run = a_trace(tmp_path, *(an_incident(f, rank(f)) for f in (later, received, born)), ranks=2)
    verdict = report_of(run)["verdict"]
    assert (verdict["rank"], verdict["iteration"], verdict["class"]) == (1, 5, "log_domain")


def test_an_incident_that_was_recorded_only_gives_no_verdict(tmp_path):
    assert report_of(a_trace(tmp_path, an_incident(a_masked_row(), None)))["verdict"] is None


def test_a_note_does_not_fire_a_layer(tmp_path):
    report = report_of(a_trace(tmp_path, Found(at=AT, finding=a_finding(severity="note"))))
    assert report["layers"]["numerics"] == "silent but for 1 note (1 check asked)"
    assert report["verdict"] is None


def test_actions_are_listed(tmp_path):
    report = report_of(a_trace(tmp_path, Acted(at=AT, action="stop", iteration=48, step=48, reason="mode dev")))
    assert report["actions"] == [{"action": "stop", "iteration": 48, "step": 48, "rank": 0, "reason": "mode dev"}]


def test_non_finite_numbers_are_words():
    assert finite({"a": [float("nan"), float("inf"), (-float("inf"), 1.5)], "b": "x"}) == {
        "a": ["NaN", "Infinity", ["-Infinity", 1.5]],
        "b": "x",
    }


def test_files_below_the_folder_of_the_run_are_relative():
    assert relative("/a/b/train.py", "/a/b") == "train.py"
    assert relative("/c/train.py", "/a/b") == "/c/train.py"
    assert relative(None, "/a") is None
