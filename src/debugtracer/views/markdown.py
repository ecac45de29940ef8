"""The report as Markdown, for an issue or a pull request."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from debugtracer.trace.events import Crashed, Incident
from debugtracer.trace.finding import Finding
from debugtracer.trace.leading_finding import lead
from debugtracer.trace.store.reader import Trace
from debugtracer.trace.verdict import Verdict
from debugtracer.views.json_report import report
from debugtracer.views.view import Row, View, diagnosed, findings, further, incidents
from debugtracer.views.words import actions, finding_text, log_read, run_wording, trials, wording


@dataclass(frozen=True)
class Markdown(View):
    """The terminal's sentences with headings and tables."""

    word: ClassVar[str] = "markdown"
    extension: ClassVar[str] = "md"

    def render(self, trace: Trace, *, color: bool = False, width: int = 80) -> str:
        """The document, ending in a newline."""
        told, found = incidents(trace), findings(trace)
        crashes = [e for e in trace.events() if isinstance(e, Crashed)]
        leader = lead(found, diagnosed(trace))
        if told:
            parts = verdict(told[0])
        elif leader is not None:
            parts = led(leader, found)
        else:
            parts = [f"# {run_wording.quiet(report(trace), bool(crashes), [f for f in found if f.severity != 'note'])}"]
        above = told[0].verdict if told else leader
        others = [f"**{f.severity}** `{f.check}`: {escape(f.message)}" for f in further(found, above)]
        parts += section("Findings" if above is None else "Further findings", others)
        parts += section("The program ended with an exception of its own", [escape(wording.crash(c)) for c in crashes])
        done = actions.rows(trace, above)
        parts += section(
            "What debug-tracer did",
            [escaped(label, text) for label, text, _ in done],
        )
        parts += section("Skipped while reading", [escape(problem) for problem in trace.problems[:8]])
        log = log_read.log_read(trace)
        parts += section(
            "Log", [f"**{label}** {escape(text)}" for label, text, _ in log_read.rows(log)] if log is not None else []
        )
        parts += [
            "## Layers",
            table([(name, state) for name, state in report(trace)["layers"].items()], ("layer", "state")),
        ]
        return "\n\n".join(parts) + "\n"


def escaped(label: str, text: str) -> str:
    """Format one row of a list, with its label in bold where it has one."""
    return f"**{label}** {escape(text)}" if label else escape(text)


def verdict(incident: Incident) -> list[str]:
    """Render the first incident with its verdict."""
    facts, told = incident.facts, incident.verdict
    assert told is not None  # incidents() gives only those
    rows = (
        wording.what(facts, told)
        + wording.where(facts, told)
        + wording.sample(facts, told)
        + wording.since(facts, told)
    )
    parts = [f"# {wording.title(facts, told)}", table(merged(rows), ("", ""))]
    parts += ["## What was seen", table(merged(wording.seen(facts) + wording.replayed(facts)), ("", ""))]
    return [*parts, *tried(told), *to_do(told)]


def led(told: Verdict, found: list[Finding]) -> list[str]:
    """Print a verdict that comes from a finding."""
    parts = [f"# {escape(finding_text.title(told))}", table(merged(finding_text.rows(told, found)), ("", ""))]
    return [*parts, *tried(told), *to_do(told)]


def tried(told: Verdict) -> list[str]:
    """The trials, and what speaks for and against."""
    if not told.trials:
        return []
    return [
        f"## {trials.heading(told)}",
        table([(row[0], row[1]) for row in trials.rows(told)], ("", "")),
        *([table(trials.sides(told), ("", ""))] if trials.sides(told) else []),
    ]


def to_do(told: Verdict) -> list[str]:
    """The change of the user's line with what the step did with it, where there is one, and the remedies."""
    edit, tested = trials.change(told), trials.tested(told)
    parts = [
        "## What to do",
        *(["```diff\n" + "\n".join(edit) + "\n```"] if edit else []),
        *([escape(tested)] if tested else []),
    ]
    return [*parts, "\n".join(f"{n}. {escape(text)}" for n, text in enumerate(told.remedy, 1))]


def merged(rows: list[Row]) -> list[tuple[str, str]]:
    """Merge rows without a label into the row above."""
    found: list[tuple[str, str]] = []
    for label, text, _ in rows:
        if label or not found:
            found.append((label, text.strip()))
        else:
            found[-1] = (found[-1][0], f"{found[-1][1]}\n{text.strip()}")
    return found


def table(rows: list[tuple[str, str]], head: tuple[str, str]) -> str:
    """A table of two columns; line breaks become `<br>`."""
    body = [f"| {label} | {escape(text).replace(chr(10), '<br>')} |" for label, text in rows]
    return "\n".join([f"| {head[0]} | {head[1]} |", "| --- | --- |", *body])


def section(title: str, lines: list[str]) -> list[str]:
    """A heading with bullets, nothing if there are none."""
    return [f"## {title}", "\n".join(f"- {line}" for line in lines)] if lines else []


def escape(text: str) -> str:
    """Escape text of the user's program for Markdown and HTML."""
    return re.sub(r"([\\`*_|<>\[\]])", r"\\\1", text)
