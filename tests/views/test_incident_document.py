"""An incident is read from its run, from its folder, and from a copy elsewhere; nothing else is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from debugtracer.diagnosis.proof.rank import rank
from debugtracer.errors import TraceError
from debugtracer.testing import AT, a_masked_row, a_trace
from debugtracer.trace.events import Incident
from debugtracer.views.incident_document import read_told

NAME = "step-000048-rank0"


def a_run(tmp_path: Path, source: str = "x = 1\n") -> Path:
    """A run with one incident and its capsule's head and sources."""
    facts = a_masked_row()
    verdict = rank(facts)
    run = a_trace(tmp_path / "runs", Incident(at=AT, facts=facts, verdict=verdict, folder=f"incidents/{NAME}"))
    folder = run / "incidents" / NAME
    (folder / "sources").mkdir(parents=True)
    (folder / "sources" / "000-train.py").write_text(source)
    head = {
        "version": "debug-tracer.capsule/1",
        "facts": msgspec.to_builtins(facts),
        "verdict": msgspec.to_builtins(verdict),
        "torch": "2.13",
        "device": "cpu",
    }
    (folder / "capsule.json").write_text(
        json.dumps({**head, "sources": {str(verdict.file): "000-train.py"}, "flags": {"any": 1}})
    )
    return run


def test_a_run_and_its_incident_are_told_alike(tmp_path):
    run = a_run(tmp_path)
    by_run, by_folder = read_told(run), read_told(run / "incidents" / NAME)
    assert by_run.verdict == by_folder.verdict == rank(a_masked_row())
    assert (by_run.run_id, by_run.at) == (run.name, AT)
    assert by_folder.run_id == run.name


def test_a_copied_capsule_has_its_verdict_and_its_own_sources_only(tmp_path):
    run = a_run(tmp_path, "kept = 1\n")
    copy = tmp_path / "elsewhere"
    shutil.copytree(run / "incidents" / NAME, copy)
    told = read_told(copy)
    assert told.run is None and told.verdict.kind == "masked_softmax_all_masked"
    assert told.source(str(told.verdict.file)) == "kept = 1\n"
    secret = tmp_path / "secret.py"
    secret.write_text("password")
    assert told.source(str(secret)) is None


def test_a_name_of_a_copy_cannot_leave_its_folder(tmp_path):
    run = a_run(tmp_path)
    (run / "incidents" / NAME / "capsule.json").write_text(
        (run / "incidents" / NAME / "capsule.json").read_text().replace("000-train.py", "../../../../secret")
    )
    (tmp_path / "secret").write_text("password")
    told = read_told(run)
    assert told.source(str(told.verdict.file)) is None


def test_what_holds_no_verdict_is_said_in_one_sentence(tmp_path):
    with pytest.raises(TraceError, match="there is no such folder"):
        read_told(tmp_path / "none")
    (tmp_path / "incidents" / "x").mkdir(parents=True)
    with pytest.raises(TraceError, match="holds no verdict"):
        read_told(tmp_path / "incidents" / "x")
    with pytest.raises(TraceError, match="this run has no verdict"):
        read_told(a_trace(tmp_path / "quiet"))
