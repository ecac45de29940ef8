"""`debug-tracer export`: the numbers of a run for other tools."""

from __future__ import annotations

from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Annotated

import typer

from debugtracer.errors import UsageError
from debugtracer.settings import Settings
from debugtracer.trace.store.reader import Trace, open_trace
from debugtracer.trace.store.schema import LATEST

if TYPE_CHECKING:
    from debugtracer.exports.export import Export

EVERY_S = 5.0  # between two rounds (ours)
LATEST_S = 30.0  # at most, however dear a round is: what is new is seen by then (ours)
SHARE = 0.1  # of the time, at most, that reading and writing takes (ours)


def export(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Run folder, or a folder of runs (its latest is taken).")
    ] = Settings.out / LATEST,
    to: Annotated[str, typer.Option("--to", help="csv, mlflow, perfetto, tensorboard or wandb (offline).")] = "csv",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder to write into; default: RUN-FORMAT, here."),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on while the run trains: add what is new every few seconds.")
    ] = False,
) -> None:
    """Write loss, learning rate, norms (also of each layer) and findings of a run in a format of other tools.

    A run that still trains is written as far as it is; with --follow what comes is added until it ends, or Ctrl-C.
    """
    from debugtracer.exports.export import exports

    known = exports()
    if to not in known:
        raise UsageError(f"--to {to}: there is no such export; there are {', '.join(sorted(known))}")
    trace = open_trace(run)
    folder = output if output is not None else Path(f"{trace.path.name}-{to}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = followed(trace, known[to], folder) if follow else known[to].write(trace, folder)
    except OSError as error:
        raise UsageError(f"-o {folder}: cannot be written ({error.strerror})") from None
    typer.echo(written)
    for problem in trace.problems:
        typer.echo(f"debug-tracer: {problem}", err=True)


def followed(trace: Trace, export: Export, folder: Path) -> Path:
    """Write a run as far as it is, again and again what is new, until it is over."""
    from debugtracer.exports.progress import Progress
    from debugtracer.trace.store.liveness import liveness
    from debugtracer.trace.store.signature import signature_of
    from debugtracer.views.view import findings

    progress = Progress(over=False)
    while True:
        began = monotonic()
        now = liveness(trace.manifest, trace.events(), signature_of(trace.path))
        last = progress.over or now.status not in ("running", "paused")
        progress.round_over(last)
        count = len(findings(trace))
        written = export.write(trace, folder, progress)
        if last:
            return written
        progress.round_done(count)
        try:
            # the first round also makes the tables of the other tool, which takes half a minute on a busy machine
            dear_s = (monotonic() - began) / SHARE if progress.rounds > 1 else 0.0
            sleep(min(max(EVERY_S, dear_s), LATEST_S))
        except KeyboardInterrupt:
            progress.round_over(True)
