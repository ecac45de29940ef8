"""The report as SARIF 2.1.0, which code hosts and editors show beside the lines of the program."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Literal
from urllib.parse import quote

from debugtracer.trace.birth import Frame
from debugtracer.trace.finding import Finding
from debugtracer.trace.leading_finding import lead
from debugtracer.trace.store.reader import Trace
from debugtracer.trace.verdict import Verdict
from debugtracer.views.json_report import finite, folder_of, relative
from debugtracer.views.view import View, diagnosed, findings, further, incidents
from debugtracer.views.words.action_lines import action_lines

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
TOOL = "debug-tracer"
Level = Literal["note", "warning", "error"]


@dataclass(frozen=True)
class Result:
    """One thing to show at a line, or at no line where none is known."""

    rule: str
    level: Level
    message: str
    file: str | None = None
    line: int | None = None
    module: str | None = None
    related: tuple[Frame, ...] = ()
    """Further lines: where it showed."""
    properties: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Sarif(View):
    """One run with the verdict first; lines are relative to the folder where the program was started."""

    word: ClassVar[str] = "sarif"
    extension: ClassVar[str] = "sarif"

    def render(self, trace: Trace, *, color: bool = False, width: int = 80) -> str:
        """The log as indented JSON, ending in a newline."""
        return document(results(trace), folder_of(trace), notifications(trace))


def results(trace: Trace) -> list[Result]:
    """The verdict, and the findings that it does not show."""
    told, found = incidents(trace), findings(trace)
    above = told[0].verdict if told else lead(found, diagnosed(trace))
    others = [of_finding(one) for one in further(found, above)]
    return [of_verdict(above), *others] if above is not None else others


def of_verdict(verdict: Verdict) -> Result:
    """The verdict as an error at the line to edit."""
    remedies = "".join(f" {text}." for text in verdict.remedy[:1])
    frame = Frame(verdict.file, verdict.symptom_line) if verdict.file and verdict.symptom_line else None
    return Result(
        f"verdict/{verdict.kind or 'unknown'}",
        "error",
        f"{verdict.summary}.{remedies}",
        verdict.file,
        verdict.line,
        verdict.module,
        (frame,) if frame is not None and frame.line != verdict.line else (),
        {
            "status": verdict.status,
            "confidence": verdict.confidence,
            "step": verdict.step,
            "iteration": verdict.iteration,
            "rank": verdict.rank,
            "sampleIndex": list(verdict.sample_index or ()),
        },
    )


def of_finding(finding: Finding) -> Result:
    """A finding at the line it points to."""
    place = finding.place
    return Result(
        finding.check,
        finding.severity,
        finding.message,
        place.frame.file if place.frame else None,
        place.frame.line if place.frame else None,
        place.module,
        (place.symptom_frame,) if place.symptom_frame is not None and place.symptom_frame != place.frame else (),
        {"step": finding.step, "iteration": finding.iteration, "rank": finding.rank, "evidence": finding.evidence},
    )


def notifications(trace: Trace) -> list[dict[str, Any]]:
    """What was done in the run and what came of it, as messages of the tool: they are no results at a line."""
    return [
        {"level": "note", "descriptor": {"id": f"action/{line.word}"}, "message": {"text": line.text},
         "properties": {"step": line.step, "rank": line.rank}}
        for rank in trace.ranks
        for line in action_lines(trace, rank)
    ]  # fmt: skip


def document(found: Iterable[Result], folder: str = "", told: Sequence[dict[str, Any]] = ()) -> str:
    """Format results as a SARIF log with one run; files below `folder` are relative to it."""
    shown = list(found)
    invocations = [{"executionSuccessful": True, "toolExecutionNotifications": list(told)}] if told else []
    rules = list(dict.fromkeys(one.rule for one in shown))
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": TOOL, "rules": [{"id": rule} for rule in rules]}},
                **({"invocations": invocations} if invocations else {}),
                "columnKind": "unicodeCodePoints",
                "results": [as_result(one, rules.index(one.rule), folder) for one in shown],
            }
        ],
    }
    return json.dumps(finite(log), indent=1, allow_nan=False) + "\n"


def as_result(one: Result, index: int, folder: str) -> dict[str, Any]:
    """The result as SARIF names its parts; what is not known is left out."""
    place = location(one.file, one.line, folder)
    if one.module:
        place["logicalLocations"] = [{"fullyQualifiedName": one.module, "kind": "module"}]
    related = [location(frame.file, frame.line, folder) for frame in one.related]
    return {
        "ruleId": one.rule,
        "ruleIndex": index,
        "level": one.level,
        "message": {"text": one.message},
        **({"locations": [place]} if place else {}),
        **({"relatedLocations": related} if related else {}),
        **({"properties": one.properties} if one.properties else {}),
    }


def location(file: str | None, line: int | None, folder: str) -> dict[str, Any]:
    """A line of a file; empty where no file is known."""
    if not file:
        return {}
    region = {"region": {"startLine": line}} if line else {}
    return {"physicalLocation": {"artifactLocation": {"uri": uri(relative(file, folder) or file)}, **region}}


def uri(file: str) -> str:
    """A path as a URI reference; one outside the folder of the program is absolute."""
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(str(PurePosixPath(path)))
