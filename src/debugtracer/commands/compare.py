"""`debug-tracer compare`: two runs side by side."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from debugtracer.commands._terminal import colored, columns
from debugtracer.errors import UsageError
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.comparison import comparison
from debugtracer.views.comparison_text import render_comparison
from debugtracer.views.page.template import filled

FORMATS = ("terminal", "json", "html")


def compare(
    left: Annotated[Path, typer.Argument(metavar="A", help="Run folder, or a folder of runs (its latest is taken).")],
    right: Annotated[Path, typer.Argument(metavar="B", help="The run to hold against it.")],
    form: Annotated[str, typer.Option("--format", help="terminal, json or html.")] = "terminal",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write; default: stdout.")] = None,
) -> None:
    """Compare two runs: the first step where their numbers part, their verdicts, the settings that differ.

    Status 0, or 2 if one cannot be read.
    """
    if form not in FORMATS:
        raise UsageError(f"--format {form}: there is no such view; there are {', '.join(FORMATS)}")
    told = comparison(open_trace(left), open_trace(right))
    if form == "json":
        lines = [row | {"lines": None} for row in told["series"]]  # a question for a program is where, not the points
        text = json.dumps(told | {"series": lines}, indent=1, allow_nan=False) + "\n"
    elif form == "html":
        text = filled(told, render_comparison(told))
    else:
        text = render_comparison(told, color=colored() and output is None, width=columns())
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"-o {output}: cannot be written ({error.strerror})") from None
