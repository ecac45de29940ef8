"""`debug-tracer report`: renders a view of a run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from debugtracer.commands._terminal import colored, columns
from debugtracer.errors import STOPPED, TraceError, UsageError
from debugtracer.imports.importer import importer_of
from debugtracer.settings import Settings
from debugtracer.trace.counted import counted
from debugtracer.trace.finding import grave, least_severity
from debugtracer.trace.store.reader import Trace, is_run, open_trace
from debugtracer.trace.store.schema import LATEST
from debugtracer.views.batch import read_batch, render_batch
from debugtracer.views.layers import render_layers
from debugtracer.views.seeds import render_seeds
from debugtracer.views.view import View, findings, incidents, views
from debugtracer.views.words import wording

RUNS = Settings.out
NEWEST = RUNS / LATEST
LATER = ("xlsx",)


def report(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="Run folder, or a folder of runs (its latest is taken), or a log of others."
        ),
    ] = NEWEST,
    formats: Annotated[
        str, typer.Option("--format", help="terminal, json, markdown, html, sarif; several with commas need -o FOLDER.")
    ] = "terminal",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write, or a folder for several formats.")
    ] = None,
    fail_on: Annotated[
        str, typer.Option("--fail-on", help="note, warning or error: status 3 if a finding is at least that severe.")
    ] = "off",
    batch: Annotated[
        bool, typer.Option("--batch", help="Show the guilty rows of the batch beside the first five healthy ones.")
    ] = False,
    layers: Annotated[
        bool,
        typer.Option("--layers", help="Show the last health snapshot: one row per weight, gradient and activation."),
    ] = False,
    seeds: Annotated[
        bool,
        typer.Option("--seeds", help="Show the seed audit: which generators were seeded, where, and the risk of each."),
    ] = False,
    again: Annotated[
        bool, typer.Option("--recheck", help="Judge the stored run again, with the checks of now.")
    ] = False,
    preset: Annotated[
        str,
        typer.Option(help="Options of the checks for --recheck: default, or seed (the thresholds of the articles)."),
    ] = "default",
    options: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="CHECK.FIELD=VALUE", help="One option of one check for --recheck."),
    ] = None,
) -> None:
    """Say what went wrong in a run: the verdict first, then what was seen, then what to do.

    RUN may also be a log that others wrote: trainer_state.json (or its checkpoint), Lightning's metrics.csv, a
    TensorBoard event file or folder. It is judged as far as its numbers go, and kept as a run folder.

    Status 0, or 3 if --fail-on is met, or 2 if the run cannot be read.
    """
    chosen = [view(word) for word in formats.split(",") if word]
    limit = least_severity(fail_on)
    trace = opened(run, again or preset != "default" or bool(options), preset, options or [])
    if batch:
        sys.stdout.write(batch_of(trace))
    elif layers:
        sys.stdout.write(render_layers(trace))
    elif seeds:
        sys.stdout.write(render_seeds(trace))
    else:
        write(trace, chosen, output)
    if limit is not None and any(grave(f.severity) >= limit for f in findings(trace)):
        raise typer.Exit(STOPPED)


def opened(path: Path, again: bool, preset: str, options: list[str]) -> Trace:
    """The trace at a path: a run of ours, judged again if asked for, or a log of others, imported and judged."""
    importer = None if is_ours(path) else importer_of(path)
    if importer is None and path.is_file():
        raise TraceError(
            f"{path} is no log that can be imported; expected a run folder, a trainer_state.json, a metrics.csv or a "
            "TensorBoard event file."
        )
    if importer is None and not again:
        return open_trace(path)
    from debugtracer.checks.selection import select
    from debugtracer.diagnosis.judging.recheck import Rechecked, recheck
    from debugtracer.imports.run_folder import import_run

    chosen = select(preset, options)
    if importer is None:
        trace = open_trace(path)
        judged = Rechecked(trace, chosen)
        changed = "".join([f", preset {preset}" if preset != "default" else "", *(f", {word}" for word in options)])
        say(f"judged again{changed}: {counted(len(findings(judged)), 'finding')}, {len(findings(trace))} when it ran.")
        return judged
    log = importer.read(path)
    run = import_run(log, RUNS, lambda trace: recheck(trace, chosen))
    say(f"imported {log.source} ({log.format}) into the run folder {wording.path(run)}")
    return open_trace(run)


def is_ours(path: Path) -> bool:
    """True for a run folder, a folder of runs, and what does not exist. Raises TraceError."""
    try:
        return not path.exists() or (path.is_dir() and (is_run(path) or (path / LATEST).exists()))
    except OSError as error:
        raise TraceError(f"{path} cannot be read ({error.strerror}); check that you may read it.") from None


def say(text: str) -> None:
    """Print one line on stderr, so that a format on stdout stays clean."""
    print(f"debug-tracer: {text}", file=sys.stderr, flush=True)


def view(word: str) -> View:
    """The view of a `--format` word. Raises UsageError naming those that exist."""
    known = views()
    if word in known:
        return known[word]
    later = " in this version" if word in LATER else ""
    raise UsageError(f"--format {word}: there is no such view{later}; there are {', '.join(sorted(known))}")


def write(trace: Trace, chosen: list[View], output: Path | None) -> None:
    """Write one format to stdout or to a file, several into a folder. Raises UsageError."""
    if output is None:
        if len(chosen) != 1:
            raise UsageError("--format: one format goes to stdout; several need -o FOLDER")
        sys.stdout.write(chosen[0].render(trace, color=colored(), width=columns()))
        return
    into_folder = len(chosen) != 1 or output.is_dir()
    try:
        for one in chosen:
            file = output / f"report.{one.extension}" if into_folder else output
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(one.render(trace), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"-o {output}: cannot be written ({error.strerror})") from None


def batch_of(trace: Trace) -> str:
    """The guilty rows of the incident that explains the run. Raises TraceError if there is none or its batch was not
    saved."""
    told = [incident for incident in incidents(trace) if incident.folder]
    if not told:
        raise TraceError(f"{trace.path}: no incident was saved in this run, so there is no batch to show")
    return render_batch(read_batch(trace.path / str(told[0].folder)), color=colored(), width=columns())
