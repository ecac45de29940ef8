"""Loads one incident with its verdict: from a run folder, an incident folder, or a capsule that was copied
elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from debugtracer.errors import TraceError
from debugtracer.trace.counted import counted
from debugtracer.trace.events import Incident
from debugtracer.trace.finding import Finding
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.leading_finding import lead
from debugtracer.trace.store.manifest import Manifest
from debugtracer.trace.store.reader import Trace, is_run, open_trace
from debugtracer.trace.store.schema import CAPSULE, INCIDENTS, SOURCES
from debugtracer.trace.stored_json import DamagedJson, decode_stored
from debugtracer.trace.verdict import Verdict
from debugtracer.views.view import findings, incidents


class CapsuleHead(msgspec.Struct, frozen=True):
    """What is read of capsule.json without torch."""

    facts: IncidentFacts
    verdict: Verdict | None = None
    torch: str = ""
    device: str = ""
    sources: dict[str, str] = {}


@dataclass(frozen=True)
class IncidentDocument:
    """A verdict with all that is known around it."""

    verdict: Verdict
    facts: IncidentFacts | None = None
    """None when the verdict comes from a finding: nothing became non-finite."""
    folder: Path | None = None
    """Of the incident."""
    run: Path | None = None
    at: float = 0.0
    """Seconds since the epoch, 0 if not known."""
    manifest: Manifest | None = None
    findings: tuple[Finding, ...] = ()
    head: CapsuleHead | None = None

    @property
    def run_id(self) -> str:
        """The name of the run; of the incident's folder when it was copied out of one."""
        named = self.run or self.folder
        return named.name if named is not None else ""

    def source(self, file: str) -> str | None:
        """The text of a source file: the copy of the capsule, else, inside a run of this machine, the file itself; None
        when neither can be read."""
        copy = self.head.sources.get(file) if self.head is not None else None
        places = [self.folder / SOURCES / Path(copy).name] if self.folder is not None and copy else []
        if self.run is not None and file.endswith(".py"):  # a capsule from elsewhere must not choose what is read here
            places.append(Path(file))
        for place in places:
            try:
                return place.read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
        return None


def read_told(path: Path) -> IncidentDocument:
    """The incident at a path: an incident folder, or a run (or a folder of runs): then the one that explains it. Raises
    TraceError in one sentence."""
    if not path.is_dir():
        raise TraceError(
            f"{path}: there is no such folder; expected an incident such as RUN/incidents/step-000012-rank0, or a run "
            "folder"
        )
    incident = path.resolve() if (path / CAPSULE).exists() or path.resolve().parent.name == INCIDENTS else None
    run = None if incident is None else incident.parent.parent
    if incident is None:
        return of_run(open_trace(path))
    if run is not None and run.is_dir() and is_run(run):
        trace = open_trace(run)
        event = next((e for e in incidents(trace) if e.folder and (trace.path / e.folder).name == incident.name), None)
        if event is not None:
            return of_event(trace, event)
    head = read_head(incident)
    if head is None or head.verdict is None:
        raise TraceError(
            f"{path}: holds no verdict (no readable {CAPSULE}, and no run around it); expected an incident folder of a "
            "run"
        )
    return IncidentDocument(head.verdict, head.facts, incident, head=head)


def of_run(trace: Trace) -> IncidentDocument:
    """The incident that explains the run, else the finding that leads. Raises TraceError when there is neither."""
    events = incidents(trace)
    if events:
        return of_event(trace, events[0])
    found = findings(trace)
    verdict = lead(found)
    if verdict is None and trace.problems:
        raise TraceError(
            f"{trace.path}: no verdict can be read, {counted(len(trace.problems), 'damaged place')} skipped "
            f"({trace.problems[0]}); copy the folder again"
        )
    if verdict is None:
        raise TraceError(
            f"{trace.path}: this run has no verdict: every loss, gradient and update was finite and no check found a "
            "cause"
        )
    return IncidentDocument(
        verdict, run=trace.path, at=trace.manifest.started_at, manifest=trace.manifest, findings=tuple(found)
    )


def of_event(trace: Trace, event: Incident) -> IncidentDocument:
    """Read one incident of a run."""
    assert event.verdict is not None
    folder = trace.path / event.folder if event.folder else None
    return IncidentDocument(
        verdict=event.verdict,
        facts=event.facts,
        folder=folder,
        run=trace.path,
        at=event.at,
        manifest=trace.manifest,
        findings=tuple(findings(trace)),
        head=read_head(folder) if folder is not None else None,
    )


def read_head(folder: Path) -> CapsuleHead | None:
    """Read capsule.json of an incident, None if there is none that can be read."""
    try:
        return decode_stored((folder / CAPSULE).read_bytes(), CapsuleHead)
    except (OSError, DamagedJson):
        return None
