"""The command that started the training, where a log shows it (a shell prompt, `set -x`, the first line of a job)."""

from __future__ import annotations

import re
import shlex

from debugtracer.logs.exceptions import Raised

LAUNCHERS = r"python[\d.]*|torchrun|accelerate launch|deepspeed|colossalai run"
BEFORE = (
    r"(?:^|[$#>%]\s|^\+{1,2}\s|[Cc]ommand(?: line)?: ?|[Rr]unning:? |cmd ?[:=] ?\[?)(?:[A-Z_][A-Z0-9_]*=\S* )*(?:\S*/)?"
)
SHOWN = re.compile(rf"{BEFORE}(?P<command>(?:{LAUNCHERS}) (?:.*?\.py\b|(?:.* )?-m [\w.]+).*)$")
OURS = "debugtracer"


def command_of(line: str) -> str:
    """The training command in a line, "" if there is none. A line of prose that mentions a script is none."""
    match = SHOWN.search(line.strip()) if ".py" in line or " -m " in line else None
    if match is None or OURS in line or "pip install" in line or " -c " in match["command"]:
        return ""
    command = match["command"].strip().rstrip("\\").rstrip()
    try:
        shlex.split(command)
    except ValueError:
        return ""
    return "" if any(sign in command for sign in (": error", 'File "', " ... ")) else command


def run_command(command: str, crash: Raised | None) -> str:
    """What to type to be sure: the command under watch; the program of the traceback when the log shows no command."""
    if command:
        return f"debug-tracer run {command}"
    script = crash.script if crash is not None else None
    if script is not None and script.file.endswith(".py"):
        return f"debug-tracer run python {shlex.quote(script.file)} ..."
    return "debug-tracer run python train.py ..."
