"""The list of samples that were left out of a training (`skipped.jsonl`): one line each time, for people and for a
later run that leaves them out from its start."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import msgspec

from debugtracer.errors import UsageError
from debugtracer.trace.stored_json import DamagedJson, decode_stored

SKIPPED = "skipped.jsonl"
SHOWN = 8  # samples of a dataset named in a line


class SkippedSamples(msgspec.Struct, frozen=True, kw_only=True):
    """What was left out at one step."""

    dataset: str
    """Class and length: `Gauges of 240 samples`."""
    samples: tuple[int, ...] = ()
    """Dataset indices that a verdict or their values call guilty; a later run leaves these out."""
    batch: tuple[int, ...] = ()
    """All dataset indices of the window that was left out."""
    step: int
    rank: int = 0
    why: str = ""


def append(run: Path, entry: SkippedSamples) -> None:
    """Add one line, whole or not at all. Raises OSError."""
    with (run / SKIPPED).open("ab", buffering=0) as file:
        line = msgspec.json.encode(entry) + b"\n"
        written = file.write(line)
        if written != len(line):  # the disk is full: half a line would spoil the list
            end = file.tell()
            if os.fstat(file.fileno()).st_size == end:  # nothing of another rank has come after it
                file.truncate(end - written)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def taken(path: Path, known: dict[str, set[int]]) -> str:
    """Return the line for the start of a run: which samples of which datasets a list leaves out."""
    total = sum(map(len, known.values()))
    if not total:
        return f"skip list {path} - it names no guilty sample - nothing is left out"
    parts = []
    for dataset, samples in known.items():
        ordered = sorted(samples)
        more = f" and {len(ordered) - SHOWN} more" if len(ordered) > SHOWN else ""
        parts.append(f"{', '.join(map(str, ordered[:SHOWN]))}{more} of {dataset}")
    many = f"{total} sample{'s' if total != 1 else ''}"
    return (
        f"skip list {path} - {many} left out from the start, where a dataset of that name is read: {'; '.join(parts)}"
    )


def read_skip_list(path: Path) -> dict[str, set[int]]:
    """The guilty samples of each dataset. Raises UsageError where the file cannot be read."""
    found: dict[str, set[int]] = {}
    try:
        *lines, tail = path.read_bytes().split(b"\n")
        for line in (line for line in (*lines, *whole(tail)) if line.strip()):
            entry = decode_stored(line, SkippedSamples)
            found.setdefault(entry.dataset, set()).update(entry.samples)
    except OSError as error:
        raise UsageError(f"skip list {path}: it cannot be read ({error.strerror or error})") from None
    except DamagedJson as error:
        raise UsageError(
            f"skip list {path}: {error}; expected a {SKIPPED} of a run - without that file no sample is left out"
        ) from None
    return {dataset: samples for dataset, samples in found.items() if samples}


def whole(tail: bytes) -> list[bytes]:
    """The last line where it does not end, unless it was cut off: the run was killed as it wrote."""
    try:
        decode_stored(tail, SkippedSamples)
    except DamagedJson:
        return []
    return [tail]
