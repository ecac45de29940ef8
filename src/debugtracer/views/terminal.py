"""What a person reads at the stop and in `debug-tracer report`: one verdict first, then what was seen, then what to
do."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from debugtracer.trace.events import Crashed, Incident
from debugtracer.trace.finding import Finding
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.leading_finding import lead, ranked
from debugtracer.trace.store.reader import Trace
from debugtracer.trace.store.saved_state import FOLDER
from debugtracer.trace.verdict import Verdict
from debugtracer.views.json_report import report
from debugtracer.views.view import Row, View, diagnosed, findings, further, incidents
from debugtracer.views.words import actions, finding_text, log_read, pipeline_rows, run_wording, trials, wording


@dataclass(frozen=True)
class Terminal(View):
    """Plain text of 80 columns or as wide as the terminal; colour only where it is asked for."""

    word: ClassVar[str] = "terminal"
    extension: ClassVar[str] = "txt"

    def render(self, trace: Trace, *, color: bool = False, width: int = 80) -> str:
        """The verdict, what else was found, the state of the seven layers."""
        page = TerminalPage(color, width)
        told, found = incidents(trace), findings(trace)
        verdict = None if told else lead(found, diagnosed(trace))
        if told:
            first = told[0]
            assert first.verdict is not None  # incidents() gives only those
            page.verdict(first.facts, first.verdict, trace.path, folder_of(trace, first))
        elif verdict is not None:
            page.leading(verdict, found, trace.path)
        page.rest(trace, told, found, told[0].verdict if told else verdict)
        return page.text()


def render_leading(
    found: list[Finding], run_folder: Path, tried: Sequence[Verdict] = (), *, color: bool = False, width: int = 80
) -> str:
    """The verdict of a run in which nothing became non-finite, as text; empty when no finding is a diagnosis."""
    verdict = lead(found, tried)
    if verdict is None:
        return ""
    page = TerminalPage(color, width)
    page.leading(verdict, found, run_folder)
    return page.text()


def render_verdict(
    facts: IncidentFacts,
    verdict: Verdict,
    run_folder: Path,
    incident_folder: Path | None,
    *,
    color: bool = False,
    width: int = 80,
) -> str:
    """The verdict of one incident as text, ending in a newline; the same at the stop and in a report. No IO, no host
    sync."""
    page = TerminalPage(color, width)
    page.verdict(facts, verdict, run_folder, incident_folder)
    return page.text()


def folder_of(trace: Trace, incident: Incident) -> Path | None:
    """Where the capsule of the incident lies, None if there is none to replay."""
    return trace.path / incident.folder if incident.folder and incident.capsule else None


def pasteable(remedy: str, run: Path, incident: Path | None) -> str:
    """A remedy with the folders of this run in its commands."""
    told = (
        remedy.replace(" RUN --batch`", f" {wording.path(run)} --batch`")
        .replace("doctor RUN`", f"doctor {wording.path(run)}`")
        .replace("report RUN`", f"report {wording.path(run)}`")
    )
    return told.replace("replay INCIDENT`", f"replay {wording.path(incident)}`") if incident is not None else told


class TerminalPage:
    """Text under construction: headings, rows of label and text, commands that are never wrapped."""

    def __init__(self, color: bool, width: int) -> None:
        self.width = max(60, min(width, 110))
        self.out = io.StringIO()
        self.console = Console(
            file=self.out,
            width=self.width,
            force_terminal=color,
            no_color=not color,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
            force_jupyter=False,  # in a notebook rich would show each line by itself
        )

    def text(self) -> str:
        """What was printed so far, without spaces at line ends."""
        return "\n".join(line.rstrip() for line in self.out.getvalue().split("\n"))

    def heading(self, text: str) -> None:
        """Print the heading of a section."""
        self.console.print()
        self.console.print(Text(text, style="bold"))

    def rows(self, rows: list[Row], label_width: int = 8) -> None:
        """Print rows of a label and a text that wraps beside it."""
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(width=label_width, no_wrap=True)
        grid.add_column(overflow="fold")
        for label, text, style in rows:
            grid.add_row(Text("  " + label, style="dim"), Text(text, style=style))
        self.console.print(grid)

    def command(self, command: str, why: str) -> None:
        """Print a command to copy: on a line of its own, never wrapped."""
        self.console.print(Text(f"  {command}", style="bold cyan"), soft_wrap=True)
        self.console.print(Text(f"      {why}", style="dim"))

    def verdict(self, facts: IncidentFacts, verdict: Verdict, run: Path, incident: Path | None) -> None:
        """Print one incident from the first line to the next command."""
        self.console.print(Text(wording.title(facts, verdict), style="bold red"))
        self.console.print(Text("-" * self.width, style="dim"))
        self.rows(
            wording.what(facts, verdict)
            + wording.where(facts, verdict)
            + wording.sample(facts, verdict)
            + wording.since(facts, verdict)
        )
        seen = wording.seen(facts) + pipeline_rows.rows(facts.pipeline) + wording.replayed(facts)
        if seen:
            self.heading("What was seen")
            self.rows(seen)
        self.proof(verdict)
        self.heading("What to do")
        self.remedies(verdict, run, incident)
        self.heading("Look closer")
        if facts.loader is not None or verdict.batch_rows:
            self.command(f"debug-tracer report {wording.path(run)} --batch", "the guilty rows beside healthy ones")
        if incident is not None:
            self.command(
                f"debug-tracer replay {wording.path(incident)}", "this step again, here or on any other machine"
            )
        self.command(f"debug-tracer report {wording.path(run)} --format html", "one page of it, to look at and to mail")

    def proof(self, verdict: Verdict) -> None:
        """Print what was tried on the failing step, and what speaks for and against the cause."""
        if verdict.trials:
            self.heading(trials.heading(verdict))
            self.rows(trials.rows(verdict), label_width=trials.width(verdict))
        sides = trials.sides(verdict)
        if sides:
            self.rows([(label, text, "") for label, text in sides], label_width=trials.LABELS)

    def remedies(self, verdict: Verdict, run: Path, incident: Path | None) -> None:
        """Print what to do, in order: first the change of the user's own line, if any, with what the step did with
        it."""
        edit = trials.change(verdict)
        if edit:
            self.rows([("1.", f"change {edit[0]}:", "")], label_width=4)
            for line in edit[1:]:
                self.console.print(
                    Text(f"        {line}", style="red" if line.startswith("-") else "green"), soft_wrap=True
                )
        told = [
            (f"{n}.", pasteable(text, run, incident), "") for n, text in enumerate(verdict.remedy, 2 if edit else 1)
        ]
        outcome = [("", trials.tested(verdict), "dim")] if trials.tested(verdict) else []
        self.rows([*outcome, *told] if edit else [*told[:1], *outcome, *told[1:]], label_width=4)

    def leading(self, verdict: Verdict, found: list[Finding], run: Path) -> None:
        """Print a verdict that comes from a finding."""
        self.console.print(Text(finding_text.title(verdict), style="bold red"))
        self.console.print(Text("-" * self.width, style="dim"))
        self.rows(finding_text.rows(verdict, found))
        self.proof(verdict)
        if verdict.remedy:
            self.heading("What to do")
            self.remedies(verdict, run, None)
        self.heading("Look closer")
        check = ranked(found)[0].check
        self.command(f"debug-tracer checks {check}", "what this check measures and when it stays silent")
        self.command(f"debug-tracer report {wording.path(run)}", "all findings and the state of the seven layers")

    def rest(self, trace: Trace, told: list[Incident], found: list[Finding], verdict: Verdict | None) -> None:
        """Print further incidents, findings, crashes, actions, the state of the layers and the overhead."""
        known, events = report(trace), trace.events()
        crashes = [e for e in events if isinstance(e, Crashed)]
        loud = [f for f in found if f.severity != "note"]
        if verdict is None:
            self.console.print(
                Text(
                    run_wording.quiet(known, bool(crashes), loud),
                    style="bold" if crashes or loud or trace.problems else "bold green",
                )
            )
        if run_wording.signal_of(known["run"]) and (trace.path / FOLDER).is_dir():
            self.command(f"debug-tracer resume {wording.path(trace.path)}", "goes on from its last good state")
        if len(told) > 1:
            self.heading(f"{len(told) - 1} more incident{'s' if len(told) > 2 else ''}")
            self.rows([("", e.verdict.summary, "") for e in told[1:6] if e.verdict is not None])
        shown = further(found, verdict)
        if shown:
            self.heading("Findings" if verdict is None else "Further findings")
            self.rows(
                [(f.severity, f"{f.check}: {f.message}", "") for f in shown[:12]]
                + ([("", f"and {len(shown) - 12} more", "dim")] if len(shown) > 12 else []),
                label_width=9,
            )
        if crashes:
            self.heading("The program ended with an exception of its own")
            self.rows([(f"rank {c.rank}", wording.crash(c), "") for c in crashes[:8]])
        done = actions.rows(trace, verdict)
        if done:
            self.heading("What debug-tracer did")
            self.rows(done, label_width=max(6, *(len(label) for label, _, _ in done)) + 2)
        if trace.problems:
            self.heading("Skipped while reading")
            self.rows([("", problem, "") for problem in trace.problems[:8]])
        log = log_read.log_read(trace)
        if log is not None:
            self.heading("Log")
            self.rows(log_read.rows(log))
        self.heading("Layers")
        self.rows(run_wording.layers(known) + run_wording.cost(known), label_width=11)
