"""What COMMAND means: our interpreter for X.py and -m MOD, anything else as it is, if its Python can import
debugtracer."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from debugtracer.errors import UsageError

PYTHON = re.compile(r"python[\d.]*(\.exe)?")
PROBE_S = 60.0  # seconds an interpreter may take to say whether it has debugtracer


def resolve(words: list[str]) -> list[str]:
    """The words to execute. Raises UsageError in one sentence if that cannot work."""
    words = words[1:] if words[:1] == ["--"] else words
    if not words:
        raise UsageError("run: there is no COMMAND; expected for example `debug-tracer run train.py`")
    if words[0] == "-m":
        return module(words)
    if words[0].startswith("-"):
        raise UsageError(
            f"run: there is no option {words[0].split('=')[0]}; `debug-tracer run --help` shows them, the program's "
            "own come after its name"
        )
    if words[0].endswith((".py", ".pyw")):
        return script(words)
    return foreign(words)


def script(words: list[str]) -> list[str]:
    """A script, by our interpreter."""
    if not Path(words[0]).is_file():
        raise UsageError(
            f"run: {words[0]} does not exist (in {os.getcwd()}); expected a script, -m MODULE or a command"
        )
    return [sys.executable, *words]


def module(words: list[str]) -> list[str]:
    """A module, by our interpreter, which looks in the current folder first."""
    if len(words) < 2:
        raise UsageError("run: -m needs the name of a module, for example `debug-tracer run -m package.train`")
    top = words[1].partition(".")[0]
    sys.path.insert(0, os.getcwd())
    try:
        known = importlib.util.find_spec(top) is not None
    except (ImportError, ValueError):
        known = False
    finally:
        sys.path.pop(0)
    if not known:
        raise UsageError(
            f"run: -m {words[1]}: {sys.executable} knows no module {top}; expected one in {os.getcwd()} or installed"
        )
    return [sys.executable, *words]


def foreign(words: list[str]) -> list[str]:
    """Return any other command. Raises UsageError if it is a Python that lacks debugtracer."""
    path = shutil.which(words[0])
    if path is None:
        raise UsageError(
            f"run: there is no command {words[0]}; expected a script (X.py), -m MODULE or a command on PATH"
        )
    python = interpreter(Path(path))
    if (
        python is not None
        and os.path.abspath(python) != os.path.abspath(sys.executable)
        and not has_debugtracer(python)
    ):
        raise UsageError(
            f"run: {words[0]} runs {python}, which cannot import debugtracer; install it there: {python} -m pip "
            "install -e PATH_TO_ITS_CHECKOUT"
        )
    return words


def interpreter(path: Path) -> str | None:
    """The Python a command is or names in its first line; None for anything else."""
    if PYTHON.fullmatch(path.name):
        return str(path)
    try:
        with path.open("rb") as file:
            first = file.readline(512).decode(errors="replace")
    except OSError:
        return None
    words = first[2:].split() if first.startswith("#!") else []
    if words and Path(words[0]).name == "env":
        words = [w for w in words[1:] if not w.startswith("-") and "=" not in w]
    if not words or not PYTHON.fullmatch(Path(words[0]).name):
        return None
    return shutil.which(words[0])


def has_debugtracer(python: str) -> bool:
    """Try `import debugtracer` in that interpreter, in a process of its own."""
    try:
        return (
            subprocess.run(
                [python, "-c", "import debugtracer"], stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_S
            ).returncode
            == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
