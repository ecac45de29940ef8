"""One run as a row of the list: its verdict in one line, how far it came, how it stands."""

from __future__ import annotations

from typing import Any

from debugtracer.trace.events import Crashed
from debugtracer.trace.leading_finding import lead
from debugtracer.trace.store.reader import Trace
from debugtracer.views.json_report import folder_of, relative, report
from debugtracer.views.page.verdict_panel import tone
from debugtracer.views.view import diagnosed, findings, incidents
from debugtracer.views.words import finding_text, run_wording, wording

LONGEST = 240


def run_row(trace: Trace) -> dict[str, Any]:
    """Name, command, first line and steps of a run. Raises TraceError, OSError."""
    told, found = incidents(trace), findings(trace)
    verdict = told[0].verdict if told else lead(found, diagnosed(trace))
    crashed = any(isinstance(event, Crashed) for event in trace.events())
    loud = [f for f in found if f.severity != "note"]
    plain = report(trace)
    manifest = trace.manifest
    row = {
        "id": trace.path.name,
        "tone": tone(verdict, crashed, loud, plain),
        "command": " ".join(manifest.command)[:LONGEST],
        "mode": manifest.mode,
        "started_at": manifest.started_at,
        "steps": plain["run"]["steps"],
        "ranks": plain["run"]["world_size"],
        "place": "",
        "class": "",
    }
    if verdict is None:
        line = run_wording.quiet(plain, crashed, loud).removeprefix("debug-tracer: ")
        return row | {"line": line.removeprefix(f"run {trace.path.name}").lstrip(", ")[:LONGEST]}
    said = wording.what(told[0].facts, verdict) if told else finding_text.rows(verdict, found)
    file = relative(verdict.file, folder_of(trace))
    return row | {
        "line": said[0][1][:LONGEST],
        "place": f"{file}:{verdict.line}" if file else "",
        "class": (verdict.kind or "").replace("_", " "),
    }
