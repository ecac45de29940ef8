"""The last words of a run."""

from __future__ import annotations

import sys

from debugtracer.diagnosis.proof.rank import rank
from debugtracer.testing import AT, a_trace, an_incident, some_facts
from debugtracer.trace.events import Found
from debugtracer.trace.finding import Finding
from debugtracer.views.closing import closing_words, tell_verdict


def found(severity, kind=None) -> Found:
    finding = Finding(
        check="model/x",
        layer="model",
        severity=severity,
        iteration=2,
        step=2,
        message="step 2, rank 0: seen",
        kind=kind,
        confidence=0.8,
    )
    return Found(at=AT, rank=0, finding=finding)


def test_a_diagnosis_is_the_verdict(tmp_path):
    words = closing_words(a_trace(tmp_path, found("note"), found("error", "lr_too_high"), found("warning")))
    assert words.startswith("debug-tracer: lr too high (likely) at step 2\n")


def test_findings_without_a_diagnosis_are_counted_in_one_line(tmp_path):
    run = a_trace(tmp_path, found("error"), found("warning"), found("warning"), found("note"))
    words = closing_words(run)
    assert words.startswith("debug-tracer: 1 error, 2 warnings; see: debug-tracer report ")
    assert "\ndebug-tracer: 1 note; see: debug-tracer report " in words
    assert words.endswith(f"{run.name}\n")


def test_notes_are_counted_in_one_line_and_nothing_is_not_worth_a_word(tmp_path):
    run = a_trace(tmp_path, found("note", "lr_too_high"))
    words = closing_words(run)
    assert (words.startswith("debug-tracer: 1 note; see: debug-tracer report "), words.count("\n")) == (True, 1)
    assert closing_words(a_trace(tmp_path / "b")) == ""


def test_a_folder_that_cannot_be_read_is_one_line_on_stderr_and_without_stderr_nothing(tmp_path, capsys, monkeypatch):
    tell_verdict(tmp_path / "gone")
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    monkeypatch.setattr(sys, "stderr", None)
    tell_verdict(tmp_path / "gone")
    assert capsys.readouterr().out == ""


def test_what_one_of_several_ranks_has_told_is_repeated_in_one_line_after_the_launcher(tmp_path):
    facts = some_facts(rank=1)
    incident = an_incident(facts, rank(facts), None)
    words = closing_words(a_trace(tmp_path / "two", incident, ranks=2))
    assert words.startswith("debug-tracer: step 48, rank 1: ")
    assert words.count("\n") == 1
    alone = some_facts()
    assert closing_words(a_trace(tmp_path / "one", an_incident(alone, rank(alone), None))) == ""
