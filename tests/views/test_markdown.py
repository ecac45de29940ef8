"""The report for an issue."""

from __future__ import annotations

from debugtracer.diagnosis.proof.rank import rank
from debugtracer.testing import AT, a_birth, a_finding, a_masked_row, a_tensor, a_trace, an_incident, some_facts
from debugtracer.trace.events import Found
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.markdown import Markdown


def test_the_verdict_has_its_headings_and_tables(tmp_path):
    facts = a_masked_row()
    text = Markdown().render(
        open_trace(a_trace(tmp_path, an_incident(facts, rank(facts)), Found(at=AT, finding=a_finding())))
    )
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [
        "# debug-tracer: the loss is not finite at step 48, rank 0",
        "## What was seen",
        "## What to do",
        "## Layers",
    ]
    assert "| sample | row 31 of the batch = dataset index 931<br>from Reviews of 4000 samples" in text


def test_code_of_the_user_cannot_make_markup(tmp_path):
    facts = some_facts(a_birth("aten::log", a_tensor(0.0), code="x = a | b  <script>"))
    text = Markdown().render(open_trace(a_trace(tmp_path, an_incident(facts, rank(facts)))))
    assert "x = a \\| b  \\<script\\>" in text


def test_a_healthy_run_is_said(tmp_path):
    assert (
        Markdown()
        .render(open_trace(a_trace(tmp_path, exit_code=0, stopped=False)))
        .startswith("# debug-tracer: run run-1, 49 steps")
    )
