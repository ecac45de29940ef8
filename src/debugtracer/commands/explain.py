"""`debug-tracer explain`: causes from the text of a log alone; the team's library of cures; an incident as a prompt."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from debugtracer.commands._terminal import colored, columns
from debugtracer.errors import UsageError
from debugtracer.library.library import entry_of, library_of, read_library, remember, seen_before
from debugtracer.logs.document import as_json, as_text
from debugtracer.logs.judge import judge
from debugtracer.logs.scan import read_log
from debugtracer.settings import Settings
from debugtracer.views.incident_document import read_told
from debugtracer.views.prompt import render_prompt
from debugtracer.views.words.wording import path as shown

FORMS = ("terminal", "json")


def explain(
    log: Annotated[
        Path | None,
        typer.Argument(
            metavar="LOGFILE", help="Text log of a training run, - for stdin; with --prompt an incident or run folder."
        ),
    ] = None,
    form: Annotated[str, typer.Option("--format", help="terminal or json.")] = "terminal",
    incident: Annotated[
        Path | None,
        typer.Option(
            "--remember", metavar="INCIDENT", help="Add this incident or run to the team's library, with --fix."
        ),
    ] = None,
    fix: Annotated[str, typer.Option("--fix", metavar="TEXT", help="What cured it, in one line.")] = "",
    prompt: Annotated[
        bool,
        typer.Option(
            "--prompt", help="Write the evidence of an incident as one prompt for a language model; nothing is sent."
        ),
    ] = False,
    with_batch: Annotated[
        bool, typer.Option("--with-batch", help="With --prompt: the guilty rows of the batch too.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="With --prompt: the file to write, else stdout.")
    ] = None,
) -> None:
    """Rank the causes that a text log speaks for (a console log, slurm output, a pasted traceback), and say what to run
    to be sure.

    Needs neither the run nor torch. From text nothing is confirmed: the best status is likely.
    Status 0, or 2 if there is nothing to read.
    """
    if form not in FORMS:
        raise UsageError(f"--format {form}: expected {' or '.join(FORMS)}")
    if incident is not None:
        return remembered(incident, fix)
    if log is None:
        raise UsageError("explain: no log was given; expected the text log of a training run, or - for stdin")
    if not prompt and (with_batch or output is not None or fix):
        raise UsageError("explain: --with-batch and -o go with --prompt, --fix goes with --remember INCIDENT")
    if prompt:
        return written(render_prompt(read_told(log), with_batch), output)
    facts = read_log(log)
    judged = judge(facts)
    sys.stdout.write(
        as_json(facts, judged) if form == "json" else as_text(facts, judged, color=colored(), width=columns())
    )


def remembered(path: Path, fix: str) -> None:
    """Add an incident and what cured it to the library; say whether it had been seen before."""
    if not fix.strip():
        raise UsageError("--remember needs --fix TEXT: what cured it, in one line, so that the next person can do it")
    told = read_told(path)
    file = library_of(told.run or Settings.out / "run", Settings.from_env().library)
    entry = entry_of(told.facts, told.verdict, run=told.run_id, at=told.at or time.time(), fix=fix)
    before = seen_before(told.facts, told.verdict, file, told.run_id)
    remember(file, entry)
    typer.echo(f"debug-tracer: remembered {entry.fingerprint} ({entry.signature.words}) in {shown(file)}")
    if before is not None:
        typer.echo(f"debug-tracer: it was {before}")
    for problem in read_library(file).problems:
        typer.echo(f"debug-tracer: {problem}", err=True)


def written(prompt: str, output: Path | None) -> None:
    """Write the prompt to a file or stdout. Raises UsageError."""
    if output is None:
        sys.stdout.write(prompt)
        return
    try:
        output.write_text(prompt, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"-o {output}: cannot be written ({error.strerror})") from None
    typer.echo(
        f"debug-tracer: wrote {shown(output)} ({len(prompt.split())} words); read it before you send it anywhere",
        err=True,
    )
