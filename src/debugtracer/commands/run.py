"""`debug-tracer run`: supervises a training command; its folder exists before the program starts and its status is the program's."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from debugtracer.checks.presets import PRESETS
from debugtracer.commands._child import exit_status, supervise
from debugtracer.commands._program import resolve
from debugtracer.errors import STOPPED, DebugTracerError, UsageError, guarded
from debugtracer.settings import Capture, Mode, Settings, Switch

BOOTSTRAP = Path(__file__).resolve().parents[1] / "integrations" / "bootstrap"
Word = TypeVar("Word", Mode, Capture, Switch)
FAIL_ON = ("off", "note", "warning", "error")


def run(
    command: Annotated[list[str] | None, typer.Argument(metavar="COMMAND...", help="train.py ARGS, -m MODULE ARGS, torchrun ...")] = None,
    out: Annotated[Path, typer.Option(help="Folder of runs.")] = Path("debug-tracer-runs"),
    name: Annotated[str, typer.Option(help="Name of this run; date and program when left out.", show_default=False)] = "",
    mode: Annotated[str, typer.Option(help="observe reports, dev stops at the first bad step; val and prod report only, so far.")] = "dev",
    capture: Annotated[str, typer.Option(help="step keeps what a replay needs, canary only the numbers.")] = "step",
    fail_on: Annotated[str, typer.Option(help="off, note, warning or error: status 3 on such a finding.")] = "off",
    preset: Annotated[str, typer.Option(help="Options of the checks: default, or seed (the thresholds of the articles).")] = "default",
    inspect_steps: Annotated[int, typer.Option(help="Steps between two close looks, after the first three; 0: none.", min=0)] = 100,
    function_tests: Annotated[str, typer.Option(help="on or off: a few extra forwards on a shadow copy at the first step.")] = "on",
) -> None:
    """Run any training command under watch, with no change to it.

    Everything from the first word of COMMAND on belongs to the program.

    \b
    debug-tracer run train.py --lr 3e-4
    debug-tracer run --mode observe -m package.train
    debug-tracer run torchrun --nproc-per-node 2 train.py

    Status: the program's own; 3 if debug-tracer stopped it or --fail-on is met; 2 if it cannot start; 128+n on signal n.
    """
    if preset not in PRESETS:
        raise UsageError(f"--preset {preset}: there is no such preset; there are {', '.join(PRESETS)}")
    if fail_on not in FAIL_ON:
        raise UsageError(f"--fail-on {fail_on}: expected {', '.join(FAIL_ON)}")
    modes = choice("--mode", Mode, mode), choice("--capture", Capture, capture)
    settings = Settings(out=out.absolute(), name=name, mode=modes[0], capture=modes[1], fail_on=fail_on, preset=preset)
    settings = dataclasses.replace(settings, inspect_steps=inspect_steps, function_tests=choice("--function-tests", Switch, function_tests))
    raise typer.Exit(watch_program(command or [], settings))


def choice(option: str, kind: type[Word], word: str) -> Word:
    """A word of an option. Raises UsageError naming the allowed ones."""
    try:
        return kind(word)
    except ValueError:
        raise UsageError(f"{option} {word}: expected {', '.join(m.value for m in kind)}") from None


def watch_program(words: list[str], settings: Settings) -> int:
    """Make the folder, run the program, close the folder, name it. Raises UsageError before anything is started."""
    from debugtracer.trace.manifest import create_run

    program = resolve(words)
    try:
        folder = create_run(settings.out, settings.name, words, settings.mode.value)
    except OSError as error:
        raise UsageError(f"--out {settings.out}: no run folder can be made there ({error.strerror}); give another with --out") from None
    try:
        code = supervise(program, child_environment(settings, folder))
    except OSError as error:
        close(folder, 2, "off")
        raise UsageError(f"{program[0]} cannot be started ({error.strerror})") from None
    code = close(folder, exit_status(code), settings.fail_on)
    tell_verdict(folder)
    print(f"debug-tracer: run folder {folder}", file=sys.stderr, flush=True)
    return code


def tell_verdict(folder: Path) -> None:
    """The verdict of a run in which a check has found the fault; an incident has told its own at the stop."""
    from debugtracer.trace.reader import open_trace
    from debugtracer.views.terminal import render_leading
    from debugtracer.views.view import findings, incidents

    try:
        trace = open_trace(folder)
        if not incidents(trace):
            print(render_leading(findings(trace), folder, color=sys.stderr.isatty()), end="", file=sys.stderr, flush=True)
    except (OSError, DebugTracerError) as error:
        print(f"debug-tracer: {folder} cannot be read for its verdict ({error}); try `debug-tracer report {folder}`.", file=sys.stderr)


def child_environment(settings: Settings, folder: Path) -> dict[str, str]:
    """The environment of the program: our settings, and the bootstrap before everything on PYTHONPATH."""
    path = [str(BOOTSTRAP), *filter(None, [os.environ.get("PYTHONPATH")])]
    variables = settings.to_env() | {"DEBUG_TRACER": "1", "DEBUG_TRACER_RUN_DIR": str(folder), "PYTHONPATH": os.pathsep.join(path)}
    return {**os.environ, **variables}


def close(folder: Path, code: int, fail_on: str) -> int:
    """Write the end into run.json; the status of the whole, 3 if we stopped it or a finding is too severe."""
    from debugtracer.trace.inventory import found_at_least, stopped_by_tracer
    from debugtracer.trace.manifest import end_run

    finish(folder)
    stopped = stopped_by_tracer(folder)
    code = STOPPED if stopped or found_at_least(folder, fail_on) else code
    try:
        end_run(folder, code, stopped)
    except (OSError, DebugTracerError) as error:
        print(f"debug-tracer: {folder}/run.json cannot be written ({error}); the run itself is complete.", file=sys.stderr)
    return code


@guarded("commands.run: finish")
def finish(folder: Path) -> None:
    """What killed ranks left open is sealed, and the ranks are judged together."""
    from debugtracer.diagnosis.across import judge_run
    from debugtracer.trace.seal import seal_run

    for problem in seal_run(folder):
        print(f"debug-tracer: {problem}", file=sys.stderr)
    judge_run(folder)
