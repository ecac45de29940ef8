"""`debug-tracer run`: supervises a training command; its folder exists before the program starts and its status is the
program's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from debugtracer.commands._supervised import watch_given
from debugtracer.settings import Settings

Command = Annotated[
    list[str] | None, typer.Argument(metavar="COMMAND...", help="train.py ARGS, -m MODULE ARGS, torchrun ...")
]
Out = Annotated[Path | None, typer.Option(help="Folder of runs.", show_default=str(Settings.out))]
Name = Annotated[str | None, typer.Option(help="Name of this run; date and program when left out.", show_default=False)]
ModeWord = Annotated[
    str | None,
    typer.Option(
        help="observe reports, dev stops at the first bad step; val leaves its update out, prod goes back too.",
        show_default=Settings.mode.value,
    ),
]
CaptureWord = Annotated[
    str | None,
    typer.Option(help="step keeps what a replay needs, canary only the numbers.", show_default=Settings.capture.value),
]
FailOn = Annotated[
    str | None,
    typer.Option(help="off, note, warning or error: status 3 on such a finding.", show_default=Settings.fail_on),
]
Preset = Annotated[
    str | None,
    typer.Option(
        help="Options of the checks: default, or seed (the thresholds of the articles).", show_default=Settings.preset
    ),
]
InspectSteps = Annotated[
    int | None,
    typer.Option(
        help="Steps between two close looks, after the first three; 0: none.",
        min=0,
        show_default=str(Settings.inspect_steps),
    ),
]
Cost = Annotated[
    float | None,
    typer.Option(
        help="Share of training time that watching may take; what is dear rests above it. 1: no limit.",
        min=0,
        show_default=str(Settings.cost),
    ),
]
FunctionTests = Annotated[
    str | None,
    typer.Option(
        help="on or off: a few extra forwards on a shadow copy at the first step.",
        show_default=Settings.function_tests.value,
    ),
]
Trials = Annotated[
    int | None,
    typer.Option(
        help="Replays of a bad step with one thing changed, at most; 0: none.", min=0, show_default=str(Settings.trials)
    ),
]
SkipList = Annotated[
    Path | None,
    typer.Option(help="A skipped.jsonl of a run: samples that it calls guilty are left out.", show_default=False),
]
HookAddress = Annotated[
    str | None,
    typer.Option(
        "--webhook", metavar="ADDRESS", help="Post stops, roll-backs and the end there, as JSON.", show_default=False
    ),
]
AppriseAddresses = Annotated[
    list[str] | None,
    typer.Option("--apprise", metavar="ADDRESS", help="Tell a mail or chat service the same; may be given again."),
]
MetricsPort = Annotated[
    int | None,
    typer.Option(help="Give metrics out for Prometheus at this port; 0: any free.", min=0, show_default=False),
]
OtlpAddress = Annotated[
    str | None,
    typer.Option("--otlp", metavar="ADDRESS", help="Send metrics, verdicts and spans there.", show_default=False),
]
Respond = Annotated[
    list[str] | None,
    typer.Option(metavar="CAUSE=RESPONSE", help="Answer a cause so, in val and prod; may be given again."),
]


def run(
    command: Command = None,
    out: Out = None,
    name: Name = None,
    mode: ModeWord = None,
    capture: CaptureWord = None,
    fail_on: FailOn = None,
    preset: Preset = None,
    cost: Cost = None,
    inspect_steps: InspectSteps = None,
    function_tests: FunctionTests = None,
    trials: Trials = None,
    respond: Respond = None,
    skip_list: SkipList = None,
    webhook: HookAddress = None,
    apprise: AppriseAddresses = None,
    metrics_port: MetricsPort = None,
    otlp: OtlpAddress = None,
) -> None:
    """Run any training command under watch, with no change to it.

    Everything from the first word of COMMAND on belongs to the program.

    \b
    debug-tracer run train.py --lr 3e-4
    debug-tracer run --mode observe -m package.train
    debug-tracer run torchrun --nproc-per-node 2 train.py

    An option that is left out is taken from its variable: DEBUG_TRACER_MODE=observe, DEBUG_TRACER_FAIL_ON=error.

    Status: the program's own; 3 if debug-tracer stopped it or --fail-on is met; 2 if it cannot start; 128+n on signal
    n.
    """
    raise typer.Exit(
        watch_given(
            command or [],
            {
                "out": out,
                "name": name,
                "mode": mode,
                "capture": capture,
                "fail_on": fail_on,
                "preset": preset,
                "cost": cost,
                "inspect_steps": inspect_steps,
                "function_tests": function_tests,
                "trials": trials,
                "respond": respond,
                "skip_list": skip_list,
                "webhook": webhook,
                "apprise": apprise,
                "metrics_port": metrics_port,
                "otlp": otlp,
            },
        )
    )
