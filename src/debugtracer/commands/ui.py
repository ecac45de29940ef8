"""`debug-tracer ui`: the page, live."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from debugtracer.errors import TraceError
from debugtracer.settings import Settings


def ui(
    runs: Annotated[
        Path,
        typer.Argument(metavar="RUNS", help="Folder of runs, or one run folder."),
    ] = Settings.out,
    host: Annotated[str, typer.Option(help="Address to listen at; the default is reached from this machine alone.")] = (
        "127.0.0.1"
    ),
    port: Annotated[
        int | None, typer.Option(help="Port to listen at; 0 for any that is free.", show_default="7007, or a free one")
    ] = None,
    control: Annotated[
        bool, typer.Option("--control", help="Let the page pause, resume and stop runs; without it, it only shows.")
    ] = False,
) -> None:
    """Show the page of your runs while they train: open the printed address in a browser.

    Nothing is sent anywhere; the address carries a token that is new each time. Needs the extra `ui`.
    """
    from debugtracer.server.serve import serve

    if not runs.is_dir() and runs != Settings.out:
        raise TraceError(f"{runs} does not exist; expected a folder of runs or a run folder.")
    serve(runs, host, port, control)
