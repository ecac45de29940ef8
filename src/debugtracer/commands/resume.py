"""`debug-tracer resume`: starts a program from the last good state of a run, without an edit of it."""

from __future__ import annotations

import dataclasses
import math
import sys
from pathlib import Path
from typing import Annotated

import typer

from debugtracer.commands._supervised import choice, chosen, supervised_run
from debugtracer.commands.run import Name, Out
from debugtracer.errors import DebugTracerError, UsageError
from debugtracer.settings import Mode, Switch
from debugtracer.trace.store.saved_state import FOLDER, RESUMED, UNREACHED, SavedState, newest
from debugtracer.trace.store.skip_list import SKIPPED

PLAIN = "plain"  # folder of plain files, beside the states


def resume(
    run: Annotated[Path, typer.Argument(help="The run to go on from, `latest` included.", show_default=False)],
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- COMMAND...]", help="The program; that of the run when left out."),
    ] = None,
    lr_scale: Annotated[
        float, typer.Option("--lr-scale", help="Multiply every learning rate by this.", min=0, show_default=True)
    ] = 1.0,
    fresh_optimizer: Annotated[
        bool, typer.Option("--fresh-optimizer", help="Without the moments of the optimizer; rates and counts stay.")
    ] = False,
    out: Out = None,
    name: Name = None,
    mode: Annotated[
        str | None, typer.Option(help="Of the new run, as of `run`.", show_default="that of the run")
    ] = None,
) -> None:
    """Start a program from the last good state of a run, with no change to it.

    \b
    debug-tracer resume debug-tracer-runs/latest -- train.py --lr 3e-4
    debug-tracer resume debug-tracer-runs/latest --lr-scale 0.5

    Weights, optimizer, schedule, scaler, random generators and the place in the data are put back when the program has
    built them, before its first step.

    Status: as of `run`; 2 also where no whole state is there, or the program is not the one that it belongs to.
    """
    run = run.resolve()
    if not math.isfinite(lr_scale):
        raise UsageError(f"--lr-scale {lr_scale}: expected a finite number, 0 or above")
    try:
        step, states, problems = newest(run)
    except DebugTracerError as error:
        raise UsageError(f"resume: {error}") from None
    for problem in problems:
        print(f"debug-tracer: {problem}; the state of step {step} is used.", file=sys.stderr)
    given = choice("--mode", Mode, mode) or known_mode(run)
    settings = dataclasses.replace(
        chosen({"out": out, "name": name, "mode": given, "preset": None, "fail_on": None}),
        skip_list=skipped if (skipped := run / SKIPPED).exists() else None,
        resume=run / FOLDER,
        resume_step=step,
        lr_scale=lr_scale,
        fresh_optimizer=Switch.ON if fresh_optimizer else Switch.OFF,
    )
    code, folder = supervised_run(command or known_command(run), settings)
    told = told_of_resuming(folder)
    if RESUMED not in told:
        code = code or 2
        if UNREACHED not in told:
            print(f"debug-tracer: {exported(states)}", file=sys.stderr, flush=True)
    raise typer.Exit(code)


def known_mode(run: Path) -> Mode | None:
    """The mode of the run, where that keeps a state; None where it cannot be read."""
    from debugtracer.trace.store.manifest import read_manifest

    try:
        return Mode(read_manifest(run).mode)
    except (DebugTracerError, ValueError):
        return None


def known_command(run: Path) -> list[str]:
    """The words that the run was started with. Raises UsageError."""
    from debugtracer.trace.store.manifest import read_manifest

    words = list(read_manifest(run).command)
    if not words:
        raise UsageError(f"resume: {run} does not say what was run; give it: debug-tracer resume RUN -- train.py")
    return words


def told_of_resuming(folder: Path) -> set[str]:
    """What the ranks of a run say of the state: that it was put back, or that its place was not reached."""
    from debugtracer.trace.events import Noted
    from debugtracer.trace.store.reader import open_trace

    try:
        return {event.what for event in open_trace(folder).events() if isinstance(event, Noted)}
    except DebugTracerError:
        return set()


def exported(states: list[SavedState]) -> str:
    """Write each part of the states as a plain file; the answer says where they lie, and how one is loaded."""
    import torch

    from debugtracer.recorder.output.last_good import verified

    folder = states[0].path.parent / PLAIN
    try:
        folder.mkdir(exist_ok=True)
        for state in states:
            parts = verified(state.path)
            for kind in ("models", "optimizers", "schedulers", "scalers"):
                for number, part in enumerate(parts[kind]):
                    name = f"rank-{state.rank}-{kind.removesuffix('s')}-{number}.pt"
                    torch.save(part["state"], folder / name)
    except (OSError, RuntimeError, DebugTracerError) as error:
        return f"resume: no state was put back, and {folder} could not be written ({error})"
    return (
        f"resume: no state was put back. Each part of it lies as a plain file in {folder}: "
        f"model.load_state_dict(torch.load('{folder / f'rank-{states[0].rank}-model-0.pt'}'))"
    )
