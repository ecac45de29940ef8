"""`debug-tracer doctor`: can this machine be watched, and what became of the watch in a run."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from debugtracer.commands._child import BOOTSTRAP
from debugtracer.errors import TraceError
from debugtracer.settings import PREFIX, Settings
from debugtracer.trace.events import AnyEvent, Crashed, Failed, Found, Noted, RankEnded, RankStarted
from debugtracer.trace.store.journal import read_events
from debugtracer.trace.store.schema import rank_folder

TORCH = (
    "import torch; from debugtracer.devices.present import described; print(torch.__version__, described(), sep='|')"
)
TORCH_S = 120.0  # seconds the import of torch may take
NOT_WELL = frozenset(
    f"optimizer/{name}"
    for name in ("gradient-missing", "gradient-zero", "no-update", "step-missing", "update-missing", "lr-zero")
)
"""Checks whose findings say that a run, or a part of it, cannot learn."""
Line = tuple[bool, str, str]  # fine, what, text


def doctor(
    run: Annotated[
        Path | None,
        typer.Argument(metavar="[RUN]", help="A run folder; without it this machine is looked at.", show_default=False),
    ] = None,
) -> None:
    """Say whether a program can be watched here, or what was watched in a run and what failed in it.

    Status 0 if all is well, 1 if something is not, 2 if the run cannot be read."""
    lines = machine() if run is None else of_run(run)
    wide = max(len(what) for _, what, _ in lines)
    for fine, what, text in lines:
        typer.echo(f"  {'ok ' if fine else 'BAD'}  {what:{wide}}  {text}")
    raise typer.Exit(0 if all(fine for fine, _, _ in lines) else 1)


def machine() -> list[Line]:
    """What a watched program needs here."""
    return [
        (True, "python", f"{platform.python_version()}, {sys.executable}"),
        *torch_here(),
        entry_point(),
        switch(),
        bootstrap(),
        folder(),
    ]


def torch_here() -> list[Line]:
    """Ask a separate process for torch and its accelerator."""
    environment = {k: v for k, v in os.environ.items() if k != "DEBUG_TRACER"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", TORCH], env=environment, capture_output=True, text=True, timeout=TORCH_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return [(False, "torch", f"cannot be imported ({error})")]
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return [(False, "torch", f"cannot be imported ({last}); install torch >= 2.6")]
    version, _, accelerator = done.stdout.strip().partition("|")
    return [(True, "torch", version), (True, "accelerator", accelerator)]


def entry_point() -> Line:
    """Check whether torch will find us by itself."""
    found = [e for e in importlib.metadata.entry_points(group="torch.backends") if e.name == "debug_tracer"]
    if found:
        return True, "autoload", "DEBUG_TRACER=1 python train.py works"
    return (
        True,
        "autoload",
        (
            "not registered (package not installed, only on the path): `debug-tracer run` works, DEBUG_TRACER=1 alone "
            "does not"
        ),
    )


def switch() -> Line:
    """Check torch's own switch for autoload."""
    if os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") == "0":
        return (
            False,
            "TORCH_DEVICE_BACKEND_AUTOLOAD",
            "is 0: DEBUG_TRACER=1 alone does nothing; unset it, or use `debug-tracer run`",
        )
    return True, "TORCH_DEVICE_BACKEND_AUTOLOAD", "not switched off"


def bootstrap() -> Line:
    """The folder put on PYTHONPATH."""
    there = (BOOTSTRAP / "sitecustomize.py").is_file()
    return (
        there,
        "bootstrap",
        f"{BOOTSTRAP}; python -E, -I and -S ignore it"
        if there
        else "sitecustomize.py is missing; install torch-debug-tracer again",
    )


def folder() -> Line:
    """Check whether runs can be written in the current folder."""
    out = Path(os.environ.get(PREFIX + "OUT", Settings.out)).absolute()
    nearest = next(p for p in (out, *out.parents) if p.exists())
    try:
        with tempfile.TemporaryFile(dir=nearest):
            return True, "runs", f"{out} can be written"
    except OSError as error:
        return False, "runs", f"{out} cannot be written ({error.strerror}); give another with --out"


def of_run(path: Path) -> list[Line]:
    """The manifest's line, then those of each rank. Raises TraceError."""
    from debugtracer.trace.store.inventory import events_of_ranks
    from debugtracer.trace.store.manifest import read_manifest
    from debugtracer.trace.store.reader import open_trace

    run = open_trace(path).path
    try:
        manifest = read_manifest(run)
        state = (
            f"ended with status {manifest.exit_code}"
            if manifest.status == "ended"
            else "still running, or its supervisor was killed"
        )
        lines: list[Line] = [(True, "run", f"{manifest.id}: {' '.join(manifest.command)} ({manifest.mode}); {state}")]
    except TraceError as error:
        lines = [(False, "run", str(error))]
    ranks = events_of_ranks(run)
    if not ranks:
        lines.append(
            (
                False,
                "ranks",
                (
                    "no process reported: none made a backward, or its Python ignores PYTHONPATH (python -E, -I, -S) "
                    "or lacks debugtracer"
                ),
            )
        )
    lines += [line for rank, events in ranks.items() for line in of_rank(rank, events)]
    return lines + [(False, f"rank {rank} file", text) for rank in ranks for text in damage(rank_folder(run, rank))]


def damage(folder: Path) -> list[str]:
    """What of the events of a rank cannot be read, a sentence each."""
    try:
        return read_events(folder)[1]
    except TraceError as error:
        return [str(error)]


def of_rank(rank: int, events: list[AnyEvent]) -> list[Line]:
    """What one rank said of itself."""
    started = next((e for e in events if isinstance(e, RankStarted)), None)
    if started is None:
        return [(False, f"rank {rank}", "opened its folder and reported nothing")]
    who = f"process {started.pid} of {started.world_size} rank(s), torch {started.torch}, {started.device}"
    lines: list[Line] = [(True, f"rank {rank}", f"{who}; {progress(events)}")]
    notes = [e for e in events if isinstance(e, Noted)]
    lines += [(True, f"rank {rank} {n.what}", n.text) for n in notes]
    lines += [
        (True, f"rank {rank} crash", f"{e.error}: {e.message.splitlines()[-1] if e.message else ''}")
        for e in events
        if isinstance(e, Crashed)
    ]
    lines += [
        (False, f"rank {rank} {e.finding.check}", e.finding.message)
        for e in events
        if isinstance(e, Found) and e.finding.check in NOT_WELL and e.finding.severity != "note"
    ]
    failures = [e for e in events if isinstance(e, Failed)]
    return lines + [
        (False, f"rank {rank} failure", f"{e.where}, {e.count} time(s); first:\n{e.first.rstrip()}") for e in failures
    ]


def progress(events: list[AnyEvent]) -> str:
    """Format the steps and our own share of time, from the last counters."""
    last = next((e for e in reversed(events) if isinstance(e, RankEnded)), None)
    if last is None:
        return "no counters yet"
    share = (
        f"{100 * last.own_s / last.wall_s:.1f} % of {last.wall_s:.1f} s was ours" if last.wall_s else "no time measured"
    )
    steps = f"{last.steps} step(s)" if last.own_updates is None else f"{last.own_updates} update(s) by the loop itself"
    return (
        f"{steps}, {last.iterations} backward(s), {share}, {last.host_syncs} host "
        f"sync(s){'' if last.final else '; did not end by itself'}"
    )
