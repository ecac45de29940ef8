"""Whether anything was written since the last look: the files of a run by name, size and time, none of them opened."""

from __future__ import annotations

import os
from pathlib import Path

from debugtracer.trace.store.schema import MANIFEST, RANK

Stamp = tuple[str, int, int, int]  # name, inode, size, time of the last write in ns
Signature = tuple[Stamp, ...]


def signature_of(run: Path) -> Signature:
    """Name, inode, size and time of each file that a reader of the run looks at; the same while nothing was written.
    Raises OSError when the folder is gone."""
    found: list[Stamp] = []
    with os.scandir(run) as entries:
        for entry in entries:
            if entry.name == MANIFEST:
                found.append(stamp(entry.name, entry))
            elif RANK.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                found += inside(entry)
    return tuple(sorted(found))


def inside(folder: os.DirEntry[str]) -> list[Stamp]:
    """The stamps of the files of one rank; one that vanishes meanwhile was sealed into another."""
    with os.scandir(folder.path) as entries:
        return [stamp(f"{folder.name}/{entry.name}", entry) for entry in entries]


def stamp(name: str, entry: os.DirEntry[str]) -> Stamp:
    """Take the stamp of one file as it is now."""
    try:
        stat = os.stat(entry.path, follow_symlinks=False)
    except FileNotFoundError:
        return name, 0, 0, 0
    return name, stat.st_ino, stat.st_size, stat.st_mtime_ns
