"""Source text around the lines of an incident, numbered, from the copies kept with it."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.file_line import file_line
from debugtracer.views.incident_document import IncidentDocument

AROUND = 12  # lines before and after the line of birth
NEAR = 4  # lines around the others
MOST = 7  # places


def excerpts(told: IncidentDocument) -> list[str]:
    """The line of birth first, then its callers, where it showed, the optimizer and the loader; each place once."""
    shown: list[tuple[str, int]] = []
    found: list[str] = []
    for label, frame in places(told):
        near = any(frame.file == file and abs(frame.line - line) <= NEAR for file, line in shown)
        if near or len(found) >= MOST:
            continue
        shown.append((frame.file, frame.line))
        inside = f" in {frame.function}" if frame.function else ""
        text = around(told, frame, NEAR if found else AROUND)
        found.append(f"{label}: {file_line(frame)}{inside}\n{text}")
    return found


def places(told: IncidentDocument) -> list[tuple[str, Frame]]:
    """The lines worth showing, each with what it is."""
    facts, verdict = told.facts, told.verdict
    found: list[tuple[str, Frame | None]] = [
        ("the line to edit", Frame(verdict.file, verdict.line) if verdict.file and verdict.line else None)
    ]
    if facts is not None:
        births = facts.birth.frames if facts.birth is not None else ()
        inside = facts.birth.library if facts.birth is not None else None
        found += [("the op, inside a library", inside)] if inside is not None and inside != births[0] else []
        found += [
            ("where the value was born" if place == 0 else "called from", frame)
            for place, frame in enumerate(births[:4])
        ]
        found.append(("where it showed", facts.symptom_frame))
        found.append(("the optimizer is made", facts.optimizer.frame if facts.optimizer is not None else None))
        found.append(("the loader is made", facts.loader.frame if facts.loader is not None else None))
    return [(label, frame) for label, frame in found if frame is not None]


def around(told: IncidentDocument, frame: Frame, lines: int) -> str:
    """Return numbered lines around one, itself marked; the stored line alone when the file cannot be read."""
    text = told.source(frame.file)
    if text is None:
        return f"> {frame.line:5}  {frame.code}" if frame.code else "(source not kept)"
    every = text.splitlines()
    first = max(0, frame.line - 1 - lines)
    return "\n".join(
        f"{'>' if number == frame.line else ' '} {number:5}  {line[:200]}"
        for number, line in enumerate(every[first : frame.line + lines], first + 1)
    )
