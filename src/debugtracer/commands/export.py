"""`debug-tracer export`: the numbers of a run for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from debugtracer.errors import UsageError
from debugtracer.settings import Settings
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.schema import LATEST


def export(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Run folder, or a folder of runs (its latest is taken).")
    ] = Settings.out / LATEST,
    to: Annotated[str, typer.Option("--to", help="csv, mlflow, perfetto, tensorboard or wandb (offline).")] = "csv",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder to write into; default: RUN-FORMAT, here."),
    ] = None,
) -> None:
    """Write loss, learning rate, norms (also of each layer) and findings of a run in a format of other tools.

    A run that still trains is written as far as it is.
    """
    from debugtracer.exports.export import exports

    known = exports()
    if to not in known:
        raise UsageError(f"--to {to}: there is no such export; there are {', '.join(sorted(known))}")
    trace = open_trace(run)
    folder = output if output is not None else Path(f"{trace.path.name}-{to}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = known[to].write(trace, folder)
    except OSError as error:
        raise UsageError(f"-o {folder}: cannot be written ({error.strerror})") from None
    typer.echo(written)
    for problem in trace.problems:
        typer.echo(f"debug-tracer: {problem}", err=True)
