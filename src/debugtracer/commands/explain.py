"""`debug-tracer explain`: causes from the text of a log alone; the team's library; an incident as a prompt."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from debugtracer.errors import UsageError
from debugtracer.logs.document import as_json, as_text
from debugtracer.logs.judge import judge
from debugtracer.logs.scan import read_log

FORMS = ("terminal", "json")


def explain(
    log: Annotated[
        Path | None, typer.Argument(metavar="LOGFILE", help="Text log of a training run, - for stdin; with --prompt an incident or run folder.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="terminal or json.")] = "terminal",
) -> None:
    """Rank the causes that a text log speaks for (a console log, slurm output, a pasted traceback), and say what to run to be sure.

    Needs neither the run nor torch. Status 0, or 2 if there is nothing to read.
    """
    if form not in FORMS:
        raise UsageError(f"--format {form}: expected {' or '.join(FORMS)}")
    if log is None:
        raise UsageError("explain: no log was given; expected the text log of a training run, or - for stdin")
    told(log, form)


def told(log: Path, form: str) -> None:
    """The answer to a log on stdout."""
    facts = read_log(log)
    judged = judge(facts)
    sys.stdout.write(as_json(facts, judged) if form == "json" else as_text(facts, judged, color=colored(), width=columns()))


def colored() -> bool:
    """Colour on a terminal only, and not against NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def columns() -> int:
    """Width of the terminal, 80 when there is none."""
    return shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else 80
