"""Which rank this process is, known at its first backward at the latest, and which run folder it shares with its
siblings."""

from __future__ import annotations

import contextlib
import multiprocessing.process
import os
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import torch

SIBLING_S = 20.0  # seconds a sibling may take to make the run folder of all


def current_rank() -> tuple[int, int]:
    """Return (rank, world size): torch.distributed's, else the launcher's variables, else (0, 1). No collective, no
    host sync."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    rank = os.environ.get("RANK", "")
    if rank.isdigit():
        return int(rank), int(os.environ.get("WORLD_SIZE", "1") or 1)
    return 0, 1


def claim(run: Path, rank: int) -> int:
    """The folder number this process may write: its rank, or the next free one when another process of the run took it.

    Raises OSError when the run folder cannot be written."""
    while True:
        folder = run / f"rank={rank}"
        folder.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(folder / "claim", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        except FileExistsError:
            if owner(folder) == os.getpid():
                return rank
            rank += 1
            continue
        os.write(handle, str(os.getpid()).encode())
        os.close(handle)
        return rank


def owner(folder: Path) -> int:
    """The process that claimed a rank folder; 0 when it cannot be read."""
    try:
        return int((folder / "claim").read_text() or 0)
    except (OSError, ValueError):
        return 0


def launch() -> str:
    """A name for the launch that this process is one rank of; "" for a process on its own. The launcher's start keeps a
    reused process id apart."""
    if not os.environ.get("RANK", "").isdigit() and multiprocessing.process.parent_process() is None:
        return ""
    parent, began = os.getppid(), ""
    with contextlib.suppress(OSError, IndexError):
        began = Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[19]
    return f"{os.uname().nodename}-{parent}-{began}"


def shared_run(out: Path, name: str, make: Callable[[], Path]) -> Path:
    """Share one run folder between the ranks on this host: the first makes it, the others read its name. Raises
    OSError."""
    out.mkdir(parents=True, exist_ok=True)
    pointer = out / f".launch-{name}"
    try:
        os.close(os.open(pointer, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return made_by_sibling(pointer) or make()
    made = make()
    pointer.write_text(f"{made.name}\n")
    return made


def made_by_sibling(pointer: Path) -> Path | None:
    """The folder a sibling names, None if it names none in SIBLING_S."""
    deadline = monotonic() + SIBLING_S
    while monotonic() < deadline:
        said = pointer.read_text()
        if said.endswith("\n"):
            return pointer.parent.resolve() / said.strip()
        sleep(0.02)
    return None
