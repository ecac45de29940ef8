"""`debug-tracer checks`: the catalogue of checks, from their docstrings; and the scan of source code."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from debugtracer.checks.check import checks as all_checks
from debugtracer.checks.check import find_check, page
from debugtracer.checks.page import page_of
from debugtracer.docstrings import title
from debugtracer.errors import STOPPED, UsageError
from debugtracer.source.scan import Scan, fails, report, scan
from debugtracer.trace.finding import LAYERS
from debugtracer.views.sarif import Result, document


def checks(
    slug: Annotated[
        str | None, typer.Argument(help="A check, such as nan-loss; all of them in one line each when left out.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--source", metavar="PATH", help="Read this .py file or folder and say where numbers can go bad."),
    ] = None,
    fail_on: Annotated[
        str,
        typer.Option(
            "--fail-on", help="With --source: note, warning or error; status 3 if a hit is at least that severe."
        ),
    ] = "off",
    form: Annotated[
        str, typer.Option("--format", help="With --source: terminal, or sarif for code hosts and editors.")
    ] = "terminal",
) -> None:
    """List the checks, or show one: what it catches, why it matters, how it decides, what to do; with --source PATH
    read code instead, without executing it."""
    if source is not None and slug is not None:
        raise UsageError(
            f"checks: {slug} and --source do not go together; `debug-tracer checks {slug}` shows a check, --source "
            "PATH asks all patterns"
        )
    if source is not None:
        return scanned(source, fail_on, form)
    if form != "terminal":
        raise UsageError(f"checks: --format {form} goes with --source PATH; the catalogue is text")
    typer.echo(lit(catalogue() if slug is None else one(slug)), nl=False)


def scanned(path: Path, fail_on: str, form: str) -> None:
    """Print the hits of a source scan. Exits with 3 if --fail-on is met, else with 0 whatever was found."""
    if form not in ("terminal", "sarif"):
        raise UsageError(f"checks: --format {form}: expected terminal or sarif")
    found = scan(path)
    failed = fails(found, fail_on)
    typer.echo(report(found) if form == "terminal" else as_sarif(found), nl=False)
    if failed:
        raise typer.Exit(STOPPED)


def as_sarif(found: Scan) -> str:
    """The hits as a SARIF log; files below the folder of now are relative to it."""
    here = Path.cwd()
    shown = (
        Result(f"source/{hit.pattern}", hit.severity, hit.message, str(here / hit.file), hit.line) for hit in found.hits
    )
    return document(shown, str(here))


def lit(text: str) -> str:
    """The same with its headings bold; typer leaves the colours out where nobody sees them."""
    return "".join(
        typer.style(line, bold=True) if line.strip() and not line.startswith((" ", "`")) else line
        for line in text.splitlines(keepends=True)
    )


def catalogue() -> str:
    """Return one line for each check, by layer."""
    known = all_checks()
    wide = max(map(len, known))
    parts = []
    for layer in LAYERS:
        mine = [f"{slug:{wide}}  {title(page(check))}\n" for slug, check in known.items() if check.layer == layer]
        parts += [f"{layer}\n", *(f"  {line}" for line in mine), "\n"] if mine else []
    return "".join(parts) + "`debug-tracer checks NAME` shows one: what it catches, how it decides, its options.\n"


def one(slug: str) -> str:
    """The page of one check with its options. Raises UsageError naming the known ones."""
    return page_of(find_check(slug)).text()
