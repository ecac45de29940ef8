"""The first screen of the page: what, where with source, which sample, why, what to do, how sure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from debugtracer.errors import TraceError
from debugtracer.trace.birth import Frame
from debugtracer.trace.events import Crashed, Incident
from debugtracer.trace.finding import Finding
from debugtracer.trace.leading_finding import lead, ranked
from debugtracer.trace.store.reader import Trace
from debugtracer.trace.verdict import Trial, Verdict
from debugtracer.views.batch import read_batch
from debugtracer.views.incident_document import IncidentDocument, of_event
from debugtracer.views.json_report import folder_of as folder_of_program
from debugtracer.views.json_report import relative, report, verdict_of
from debugtracer.views.terminal import folder_of, pasteable
from debugtracer.views.view import Row, diagnosed, findings, further, incidents
from debugtracer.views.words import actions, finding_text, log_read, pipeline_rows, run_wording, trials, wording
from debugtracer.views.words.excerpt import places

AROUND, NEAR = 6, 3  # source lines before and after the guilty one, and around the other places
MOST_PLACES = 6
MOST_FINDINGS = 300


def verdict_panel(trace: Trace) -> dict[str, Any]:
    """Gather everything of the first screen as plain values; the sentences are those of the text views."""
    told, found = incidents(trace), findings(trace)
    verdict = told[0].verdict if told else lead(found, diagnosed(trace))
    crashes = [event for event in trace.events() if isinstance(event, Crashed)]
    loud = [f for f in found if f.severity != "note"]
    plain = report(trace)
    panel: dict[str, Any] = {
        "title": run_wording.quiet(plain, bool(crashes), loud).removeprefix("debug-tracer: "),
        "tone": tone(verdict, bool(crashes), loud, plain),
        "verdict": None,
        "further": [msgspec.to_builtins(f) for f in further(found, verdict)[:MOST_FINDINGS]],
        "crashes": [wording.crash(crash) for crash in crashes],
        "actions": pairs(actions.rows(trace, verdict)),
        "log": pairs(log_read.rows(log)) if (log := log_read.log_read(trace)) is not None else [],
        "layers": plain["layers"],
        "cost": pairs(run_wording.cost(plain)),
    }
    if verdict is None:
        return panel
    document = of_event(trace, told[0]) if told else from_finding(trace, verdict, found)
    rows = incident_rows(told[0], verdict) if told else finding_rows(verdict, found)
    cwd = folder_of_program(trace)
    remedies = [pasteable(r, trace.path, folder_of(trace, told[0]) if told else None) for r in verdict.remedy]
    return panel | {
        **rows,
        "verdict": verdict_of(verdict, cwd),
        "trials_title": trials.heading(verdict),
        "trials": [
            {"name": name, "text": text, "outcome": outcome(name, text)} for name, text, _ in trials.rows(verdict)
        ],
        "sides": [list(side) for side in trials.sides(verdict)],
        "change": [f"{relative(verdict.change.file, cwd)}:{verdict.change.line}", *trials.change(verdict)[1:]]
        if verdict.change is not None
        else [],
        "tested": trials.tested(verdict),
        "remedies": remedies,
        "sources": excerpts(document, [] if told else finding_places(found), cwd),
        "batch": batch_of(trace, told),
        "replayable": bool(told) and replayable(told[0]),
    }


def tone(verdict: Verdict | None, crashed: bool, loud: list[Finding], plain: dict[str, Any]) -> str:
    """How the first line is coloured: bad, warning, unknown (nothing can be said) or good."""
    if verdict is not None or crashed:
        return "bad"
    if loud:
        return "warning"
    return "good" if plain["run"]["iterations"] and "skipped" not in plain["run"] else "unknown"


def incident_rows(incident: Incident, verdict: Verdict) -> dict[str, Any]:
    """The sentences of an incident by heading, and the numbers of its bad step."""
    facts = incident.facts
    return {
        "title": wording.title(facts, verdict).removeprefix("debug-tracer: "),
        "what": wording.what(facts, verdict)[0][1],
        "where": pairs(wording.where(facts, verdict)),
        "sample": pairs(wording.sample(facts, verdict)),
        "since": pairs(wording.since(facts, verdict)),
        "seen": pairs(wording.seen(facts) + pipeline_rows.rows(facts.pipeline) + wording.replayed(facts)),
        "bad": {
            "step": facts.ref.step,
            **({"loss": facts.loss} if facts.loss is not None else {}),
            **({"grad_l2": facts.grad_l2} if facts.grad_l2 is not None else {}),
        },
    }


def finding_rows(verdict: Verdict, found: list[Finding]) -> dict[str, Any]:
    """The rows of a verdict that comes from a finding."""
    rows = finding_text.rows(verdict, found)
    first = ranked(found)[0]
    return {
        "title": finding_text.title(verdict).removeprefix("debug-tracer: "),
        "what": rows[0][1],
        "where": pairs([row for row in rows[2:] if row[0] != "sample"]),
        "sample": pairs([row for row in rows if row[0] == "sample"]),
        "since": [],
        "seen": [[name, plainly(value)] for name, value in first.evidence.items()],
        "bad": {"step": verdict.step},
    }


def plainly(value: object) -> str:
    """The words of a value: six digits of a number, as they are read."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def from_finding(trace: Trace, verdict: Verdict, found: list[Finding]) -> IncidentDocument:
    """The document of a verdict without an incident: sources come from the files themselves."""
    manifest = trace.manifest
    return IncidentDocument(verdict, run=trace.path, at=manifest.started_at, manifest=manifest, findings=tuple(found))


def finding_places(found: list[Finding]) -> list[tuple[str, Frame]]:
    """The lines of the finding that the verdict comes from."""
    place = ranked(found)[0].place
    named = [("the line to edit", place.frame), ("where it showed", place.symptom_frame)]
    return [(label, frame) for label, frame in named if frame is not None]


def excerpts(document: IncidentDocument, further_places: list[tuple[str, Frame]], cwd: str) -> list[dict[str, Any]]:
    """Cut the source around each place that matters, the guilty line first; a file that was not kept leaves its line
    alone."""
    shown: list[tuple[str, int]] = []
    found: list[dict[str, Any]] = []
    known = [*places(document), *further_places]
    for label, frame in known:
        if len(found) >= MOST_PLACES or any(frame.file == f and abs(frame.line - n) <= NEAR for f, n in shown):
            continue
        twin = [f for _, f in known if (f.file, f.line) == (frame.file, frame.line) and f.code]
        whole = twin[0] if twin else frame
        shown.append((frame.file, frame.line))
        first, lines = numbered(document, whole, NEAR if found else AROUND)
        found.append(
            {
                "label": label,
                "file": wording.at(relative(frame.file, cwd) or frame.file, frame.line),
                "function": whole.function,
                "line": frame.line,
                "first": first,
                "lines": lines,
            }
        )
    return found


def numbered(document: IncidentDocument, frame: Frame, around: int) -> tuple[int, list[str]]:
    """Return the number of the first line, and the lines."""
    text = document.source(frame.file)
    every = text.splitlines() if text is not None else []
    if not 0 < frame.line <= len(every):
        return frame.line, [frame.code] if frame.code else []
    start = max(0, frame.line - 1 - around)
    return start + 1, [line[:240] for line in every[start : frame.line + around]]


def batch_of(trace: Trace, told: list[Incident]) -> dict[str, Any] | None:
    """The guilty rows beside healthy ones; None where they were not kept."""
    if not told or not told[0].folder:
        return None
    try:
        plain: dict[str, Any] = msgspec.to_builtins(read_batch(trace.path / Path(told[0].folder)))
    except TraceError:
        return None
    return plain


def replayable(incident: Incident) -> bool:
    """Whether its step was recorded so that it can be executed again."""
    return bool(incident.folder) and incident.capsule


def trial_row(trial: Trial) -> dict[str, str]:
    """A trial that was made after the verdict, as a row of its table."""
    text = trials.trial_text(trial)
    return {"name": trial.intervention, "text": text, "outcome": outcome(trial.intervention, text)}


def outcome(name: str, text: str) -> str:
    """The word that a trial's badge shows: healed, persists, same (the unchanged step), changed, or idle."""
    if name == "not tried":
        return "idle"
    if name == "unchanged":
        return "same" if "came again" in text.partition(";")[0] and "did not" not in text else "changed"
    return "healed" if text.startswith("healed") else "persists"


def pairs(rows: list[Row]) -> list[list[str]]:
    """Take label and text of rows, without their terminal style."""
    return [[label, text.strip()] for label, text, _ in rows]
