"""run.json: what was run, where, when and how it ended; and the making of a run folder."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from time import time as wall_time
from typing import Literal

import msgspec

from debugtracer.errors import TraceError, UsageError
from debugtracer.trace.store.schema import LATEST, MANIFEST
from debugtracer.trace.stored_json import DamagedJson, decode_stored

VERSION = 1
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=-]{0,127}")


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """One run. Times are seconds since the epoch; `status` stays "running" when the supervisor was killed."""

    version: int = VERSION
    id: str
    command: tuple[str, ...] = ()
    cwd: str = ""
    mode: str = "dev"
    host: str = ""
    pid: int = 0
    """The process that made the folder."""
    python: str = ""
    started_at: float = 0.0
    ended_at: float | None = None
    status: Literal["running", "ended"] = "running"
    exit_code: int | None = None
    """Status of the run; None while it runs, and when nobody could see it."""
    stopped_by_tracer: bool = False
    world_size: int | None = None


def create_run(out: Path, name: str, command: Sequence[str], mode: str) -> Path:
    """Make `out/<run id>` with run.json and point `out/latest` at it; a taken name gets -2, -3, ... Raises UsageError
    (bad name) and OSError."""
    if name and not ID.fullmatch(name):
        raise UsageError(f"--name {name}: expected up to 128 letters, digits, dots, dashes or underscores, no slash")
    run = new_folder(Path(out), name or default_name(command))
    made = Manifest(
        id=run.name,
        command=tuple(command),
        cwd=os.getcwd(),
        mode=mode,
        host=socket.gethostname(),
        pid=os.getpid(),
        python=platform.python_version(),
        started_at=wall_time(),
    )
    write_manifest(run, made)
    point_latest(run)
    return run


def default_name(command: Sequence[str]) -> str:
    """Derive a name from date, time and program: 20261121-093000-train."""
    program = next(
        (Path(word).stem for word in command if word.endswith(".py")), Path(command[0]).name if command else "run"
    )
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{re.sub(r'[^A-Za-z0-9._-]', '', program)[:40] or 'run'}"


def new_folder(out: Path, name: str) -> Path:
    """The first free of name, name-2, name-3, ...; mkdir is atomic, so two runs never share one. Raises OSError."""
    out.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        run = out.resolve() / (name if number == 1 else f"{name}-{number}")
        try:
            run.mkdir()
            return run
        except FileExistsError:
            number += 1


def point_latest(run: Path) -> None:
    """Make `latest` a link to the run, a text file with its name where links are not allowed. Raises OSError."""
    temporary = run.parent / f".{LATEST}-{os.getpid()}"
    temporary.unlink(missing_ok=True)
    try:
        temporary.symlink_to(run.name, target_is_directory=True)
    except OSError:
        temporary.write_text(run.name)
    latest = run.parent / LATEST
    if latest.is_dir() and not latest.is_symlink():  # a folder of the user's with that name is left alone
        temporary.unlink()
        return
    os.replace(temporary, latest)


def write_manifest(run: Path, manifest: Manifest) -> None:
    """Replace run.json in one step, so that a reader never sees half of it. Raises OSError."""
    temporary = run / f".{MANIFEST}-{os.getpid()}"
    try:
        temporary.write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")
        os.replace(temporary, run / MANIFEST)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def read_manifest(run: Path) -> Manifest:
    """The manifest of a run folder. Raises TraceError in one sentence."""
    path = Path(run) / MANIFEST
    try:
        manifest = decode_stored(path.read_bytes(), Manifest)
    except OSError as error:
        raise TraceError(f"{path} cannot be read ({error.strerror}); expected the manifest of a run.") from None
    except DamagedJson as error:
        raise TraceError(
            f"{path} is damaged ({error}); expected the manifest of a run - the events in rank=N/events.jsonl may "
            "still be readable."
        ) from None
    if manifest.version > VERSION:
        raise TraceError(
            f"{path} has format version {manifest.version}, this debug-tracer reads up to {VERSION}; update "
            "torch-debug-tracer."
        )
    return manifest


def end_run(run: Path, exit_code: int | None, stopped: bool) -> None:
    """Write into run.json that the run has ended. Raises OSError, TraceError."""
    ended = msgspec.structs.replace(
        read_manifest(run), status="ended", ended_at=wall_time(), exit_code=exit_code, stopped_by_tracer=stopped
    )
    write_manifest(run, ended)
