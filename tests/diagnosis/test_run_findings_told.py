"""How a finding is told: with its samples below a Subset, on stderr a few times, and before there are files."""

from __future__ import annotations

from types import SimpleNamespace

import msgspec
import pytest

from debugtracer.diagnosis import run_findings as module
from debugtracer.diagnosis.proof.trial_budget import TrialBudget
from debugtracer.diagnosis.run_findings import RunFindings
from debugtracer.trace.finding import Finding, Place


def findings(writer="writer"):
    events = []
    output = SimpleNamespace(
        writer=writer,
        trace_id=lambda iteration: "",
        event=lambda event, now=False: events.append((event, now)),
        opened=[],
        open=lambda: output.opened.append(1),
        rank=0,
    )
    state = SimpleNamespace(anomalies=0)
    context = SimpleNamespace(batches="batches", ring=None)
    made = RunFindings(output, state, None, context, TrialBudget(), "default")
    made.jumps = SimpleNamespace(found=lambda finding: None)
    return made, events


def a_finding(severity="warning", samples=None) -> Finding:
    return Finding(
        check="data/x", layer="data", severity=severity, kind="x", symptom="x", confidence=0.5, iteration=3, step=3,
        message="odd; expected even.", place=Place(sample_index=samples),
    )  # fmt: skip


class Whole:
    """Samples of a dataset below a Subset."""

    def __init__(self, indices=(7,)) -> None:
        self.indices = indices

    def words(self, samples):
        return f"({len(samples)} in the whole)"


@pytest.mark.parametrize(
    ("samples", "whole", "expected"),
    [
        ((1,), Whole(), ("odd; expected even. (1 in the whole)", (7,))),
        ((1,), Whole(()), ("odd; expected even. (1 in the whole)", None)),
        ((1,), None, ("odd; expected even.", None)),
        ((), Whole(), ("odd; expected even.", None)),
        (None, Whole(), ("odd; expected even.", None)),
    ],
)
def test_samples_of_a_subset_are_told_in_the_whole_dataset(monkeypatch, samples, whole, expected):
    asked = []
    monkeypatch.setattr(module, "whole_of", lambda batches, samples: asked.append(samples) or whole)
    made, events = findings()
    made.tell(a_finding(samples=samples))
    told = events[0][0].finding
    assert (told.message, told.place.whole_index) == expected and bool(asked) is bool(samples)


def test_a_finding_whose_samples_cannot_be_told_is_told_without(monkeypatch):
    def fails(batches, samples):
        raise ValueError

    monkeypatch.setenv("DEBUG_TRACER_STRICT", "")
    monkeypatch.setattr("debugtracer.errors.swallow", lambda *told: None)
    monkeypatch.setattr(module, "whole_of", fails)
    made, events = findings()
    made.tell(a_finding(samples=(1,)))
    assert events[0][0].finding.message == "odd; expected even."


@pytest.mark.parametrize(("severity", "grave"), [("note", False), ("warning", True), ("error", True)])
def test_what_is_grave_is_said_at_once(capsys, severity, grave):
    made, events = findings()
    made.tell(a_finding(severity))
    assert events[0][1] is grave and made.state.anomalies == grave and made.found
    assert capsys.readouterr().err == (f"debug-tracer: {severity}: odd; expected even.\n" if grave else "")


def test_eight_findings_are_said(capsys):
    made, _ = findings()
    for _ in range(9):
        made.tell(a_finding())
    assert capsys.readouterr().err.count("\n") == 8 and len(made.found) == 9


@pytest.mark.parametrize(("severities", "opened"), [(("note",), 0), (("note", "warning"), 1), ((), 0)])
def test_what_was_found_before_there_were_files_is_written_at_the_end(severities, opened):
    made, events = findings(writer=None)
    for severity in severities:
        made.tell(a_finding(severity))
    assert events == [] and len(made.unwritten) == len(severities)
    made.write_late()
    assert len(made.output.opened) == opened and len(events) == len(severities) and not made.unwritten


def test_a_run_without_files_or_facts_has_no_end():
    made, events = findings(writer=None)
    made.live = SimpleNamespace(finish=lambda facts: events.append("judged"))
    made.news = SimpleNamespace(keep=lambda facts: facts)
    made.finish()
    assert events == []
    with pytest.raises(AttributeError):
        made.finish([msgspec.UNSET])
    assert events == ["judged"]
