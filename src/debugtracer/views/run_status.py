"""How a run stands that still trains, or has just ended: its verdict, or that nothing bad was seen; as text and as a
card for a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from debugtracer.trace.counted import counted
from debugtracer.trace.finding import Finding
from debugtracer.trace.leading_finding import lead
from debugtracer.trace.store.reader import Trace, open_trace
from debugtracer.trace.verdict import Verdict
from debugtracer.views.card import leading_card, status_card, verdict_card
from debugtracer.views.json_report import report
from debugtracer.views.terminal import folder_of, render_leading, render_verdict
from debugtracer.views.view import Row, diagnosed, findings, incidents
from debugtracer.views.words import wording

MOST = 5  # findings shown


@dataclass(frozen=True)
class RunStatus:
    """The state of a run at one time."""

    text: str
    html: str
    verdict: Verdict | None = None

    @classmethod
    def unread(cls, run: Path | None, error: Exception) -> RunStatus:
        """A run folder that cannot be read."""
        title = f"debug-tracer: {run} cannot be read ({error})"
        return cls(title, status_card(title, [], False))


def run_status(run: Path | None, mode: str, watching: bool) -> RunStatus:
    """Read the status from the run folder, as far as it is written. Raises OSError, TraceError."""
    if run is None:
        title = f"debug-tracer: {'watching, mode ' + mode if watching else 'not watching'}; nothing was trained yet"
        return RunStatus(title, status_card(title, [], True))
    trace = open_trace(run)
    told, found = incidents(trace), findings(trace)
    if told:
        first = told[0]
        assert first.verdict is not None  # incidents() gives only those
        known = first.facts, first.verdict, trace.path, folder_of(trace, first)
        return RunStatus(render_verdict(*known), verdict_card(*known), first.verdict)
    verdict = lead(found, diagnosed(trace))
    if verdict is not None:
        return RunStatus(
            render_leading(found, trace.path, diagnosed(trace)), leading_card(verdict, found, trace.path), verdict
        )
    return quiet(trace, [f for f in found if f.severity != "note"], mode, watching)


def quiet(trace: Trace, loud: list[Finding], mode: str, watching: bool) -> RunStatus:
    """A run without a verdict: how far it came, and what was found."""
    steps = counted(report(trace)["run"]["steps"], "step")
    seen = f"{counted(len(loud), 'finding')}, no verdict" if loud else "every loss, gradient and update was finite"
    title = f"debug-tracer: {f'watching, mode {mode}; ' if watching else ''}{steps}: {seen}"
    rows: list[Row] = [(f.severity, f.message, "") for f in loud[:MOST]]
    rows.append(("run", wording.path(trace.path), "dim"))
    return RunStatus(
        "\n".join([title, *(f"  {label}  {text}" for label, text, _ in rows)]), status_card(title, rows, not loud)
    )
