"""The report for code hosts and editors."""

from __future__ import annotations

import json

import msgspec

from debugtracer.diagnosis.proof.rank import rank
from debugtracer.testing import AT, a_finding, a_masked_row, a_trace, an_incident
from debugtracer.trace.birth import Frame
from debugtracer.trace.events import Found
from debugtracer.trace.place import Place
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.sarif import Result, Sarif, document, uri


def rendered(path, *events):
    log = json.loads(Sarif().render(open_trace(a_trace(path, *events))))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert [run["tool"]["driver"]["rules"][one["ruleIndex"]]["id"] for one in run["results"]] == [
        one["ruleId"] for one in run["results"]
    ]
    return run["results"]


def changed(**fields):
    return msgspec.structs.replace(a_finding(), **fields)


def test_the_verdict_comes_first_at_the_line_to_edit(tmp_path):
    facts = a_masked_row()
    verdict = rank(facts)
    first, *_ = rendered(tmp_path, an_incident(facts, verdict), Found(at=AT, finding=a_finding()))
    assert (first["ruleId"], first["level"]) == ("verdict/masked_softmax_all_masked", "error")
    assert first["message"]["text"].startswith(verdict.summary)
    assert first["locations"][0]["physicalLocation"]["region"] == {"startLine": verdict.line}
    assert first["properties"]["sampleIndex"] == [931]


def test_a_finding_keeps_its_severity_place_and_numbers(tmp_path):
    frame, showed = Frame("/w/train.py", 7), Frame("/w/train.py", 9)
    place = Place(module="head", frame=frame, symptom_frame=showed)
    finding = changed(check="model/dead-units", severity="note", place=place, evidence={"dead": "NaN"})
    (one,) = rendered(tmp_path, Found(at=AT, finding=finding))
    assert (one["ruleId"], one["level"], one["message"]["text"]) == ("model/dead-units", "note", finding.message)
    (where,) = one["locations"]
    assert where["physicalLocation"]["region"] == {"startLine": 7}
    assert where["logicalLocations"] == [{"fullyQualifiedName": "head", "kind": "module"}]
    assert one["relatedLocations"][0]["physicalLocation"]["region"] == {"startLine": 9}
    assert one["properties"]["evidence"] == {"dead": "NaN"}


def test_a_finding_without_a_line_has_no_location(tmp_path):
    finding = changed(check="model/dead-units", severity="warning", place=Place())
    (one,) = rendered(tmp_path, Found(at=AT, finding=finding))
    assert "locations" not in one


def test_a_healthy_run_has_no_results(tmp_path):
    assert rendered(tmp_path) == []


def test_paths_are_uris():
    assert uri("my data/train#2.py") == "my%20data/train%232.py"
    assert uri("/w/train 1.py") == "file:///w/train%201.py"


def test_files_below_the_folder_of_the_program_are_relative_and_numbers_are_json():
    text = document([Result("a/b", "note", "seen", "/w/src/train.py", 3, properties={"loss": float("inf")})], "/w")
    (one,) = json.loads(text)["runs"][0]["results"]
    assert one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "src/train.py"
    assert one["properties"] == {"loss": "Infinity"}
