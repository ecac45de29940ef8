"""A program under supervision: what its options say, its folder before it starts, its status after it."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from debugtracer.checks.presets import PRESETS
from debugtracer.commands._child import RUN_DIR, child_environment, exit_status, supervise
from debugtracer.commands._ended_notice import tell_end
from debugtracer.commands._program import resolve
from debugtracer.errors import STOPPED, DebugTracerError, UsageError, guarded
from debugtracer.settings import FAIL_ON, PREFIX, Capture, Mode, Settings, Switch
from debugtracer.trace.store.skip_list import read_skip_list, taken

if TYPE_CHECKING:
    from debugtracer.telemetry.telemetry import Telemetry

Word = TypeVar("Word", Mode, Capture, Switch)
NAME = PREFIX + "NAME"


def watch_given(command: list[str], given: Mapping[str, object]) -> int:
    """Run a program under watch with options as they were typed, None where left out; its status. Raises UsageError
    before anything is started."""
    words: dict[str, object] = {
        "mode": choice("--mode", Mode, given["mode"]),
        "capture": choice("--capture", Capture, given["capture"]),
        "function_tests": choice("--function-tests", Switch, given["function_tests"]),
    }
    for field in ("respond", "apprise"):
        listed = given[field]
        words[field] = ",".join(listed) if isinstance(listed, list) and listed else None
    return supervised_run(command, chosen({**given, **words}))[0]


def chosen(given: Mapping[str, object]) -> Settings:
    """The options that were given, else the variables, else the defaults. Raises UsageError."""
    preset, fail_on = given["preset"], given["fail_on"]
    if preset is not None and preset not in PRESETS:
        raise UsageError(f"--preset {preset}: there is no such preset; there are {', '.join(PRESETS)}")
    if fail_on is not None and fail_on not in FAIL_ON:
        raise UsageError(f"--fail-on {fail_on}: expected {', '.join(FAIL_ON)}")
    settings = Settings.from_env(
        variables(os.environ), **{field: value for field, value in given.items() if value is not None}
    )
    if settings.respond:
        from debugtracer.responses.policy import choices

        choices(settings.respond, settings.mode.value)
    if settings.apprise:
        from debugtracer.notify.apprise import check_addresses

        check_addresses(settings.apprise, "--apprise")
    if settings.skip_list is not None:
        read_skip_list(settings.skip_list)
        settings = dataclasses.replace(settings, skip_list=settings.skip_list.absolute())
    return dataclasses.replace(settings, out=settings.out.absolute())


def choice(option: str, kind: type[Word], word: object) -> Word | None:
    """A word of an option, None when it was left out. Raises UsageError naming the allowed ones."""
    try:
        return None if word is None else kind(word)
    except ValueError:
        raise UsageError(f"{option} {word}: expected {', '.join(m.value for m in kind)}") from None


def variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that count as left-out options; inside a watched program its folder and its name are not those of
    the run to come."""
    return {
        name: value for name, value in environ.items() if name != RUN_DIR and not (name == NAME and RUN_DIR in environ)
    }


def supervised_run(words: list[str], settings: Settings) -> tuple[int, Path]:
    """Make the folder, run the program, close the folder, name it; its status and the folder. Raises UsageError before
    anything is started."""
    from debugtracer.trace.store.manifest import create_run
    from debugtracer.views.closing import tell_verdict

    program = resolve(words)
    try:
        folder = create_run(settings.out, settings.name, words, settings.mode.value)
    except OSError as error:
        raise UsageError(
            f"--out {settings.out}: no run folder can be made there ({error.strerror}); give another with --out"
        ) from None
    if settings.skip_list is not None:
        told = taken(settings.skip_list, read_skip_list(settings.skip_list))
        print(f"debug-tracer: {told}.", file=sys.stderr, flush=True)
    telemetry = telemetry_of(settings, folder)
    try:
        code = supervise(program, child_environment(settings, folder), telemetry.start if telemetry else None)
    except OSError as error:
        close(folder, 2, "off")
        raise UsageError(f"{program[0]} cannot be started ({error.strerror})") from None
    code = close(folder, exit_status(code), settings.fail_on)
    tell_verdict(folder)
    if telemetry is not None:
        telemetry.end()
    tell_end(folder, code, settings)
    print(f"debug-tracer: run folder {folder}", file=sys.stderr, flush=True)
    return code, folder


def telemetry_of(settings: Settings, folder: Path) -> Telemetry | None:
    """What is given out of the run while it trains; None, and nothing of it imported, where none is asked for. Raises
    UsageError, with the folder closed, where a package is missing."""
    port, host = settings.metrics_port, settings.metrics_host
    if port is None and not settings.otlp:
        return None
    from debugtracer.telemetry.telemetry import Telemetry

    try:
        return Telemetry(folder, port, host, settings.alert_token, settings.otlp)
    except UsageError:
        close(folder, 2, "off")
        raise


def close(folder: Path, code: int, fail_on: str) -> int:
    """Write the end into run.json; the status of the whole, 3 if we stopped it or a finding is too severe."""
    from debugtracer.trace.store.inventory import findings_at_least, stopped_by_tracer
    from debugtracer.trace.store.manifest import end_run

    finish(folder)
    stopped = stopped_by_tracer(folder)
    met = [] if stopped else findings_at_least(folder, fail_on)
    if met:
        others = f" (and {len(met) - 1} more)" if len(met) > 1 else ""
        print(
            f"debug-tracer: status {STOPPED} by fail-on {fail_on}: {met[0].severity} of {met[0].check}: "
            f"{met[0].message}{others}",
            file=sys.stderr,
        )
    code = STOPPED if stopped or met else code
    try:
        end_run(folder, code, stopped)
    except (OSError, DebugTracerError) as error:
        print(
            f"debug-tracer: {folder}/run.json cannot be written ({error}); the run itself is complete.", file=sys.stderr
        )
    return code


@guarded("commands.supervised: finish")
def finish(folder: Path) -> None:
    """Seal what killed ranks left open, and judge the ranks together."""
    from debugtracer.diagnosis.judging.cross_rank import judge_run
    from debugtracer.trace.store.series.seal import seal_run

    for problem in seal_run(folder):
        print(f"debug-tracer: {problem}", file=sys.stderr)
    judge_run(folder)
