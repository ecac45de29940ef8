"""The health snapshots of a rank as columns beside its series: more of them than events.jsonl keeps, and read without
decoding a line of it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from debugtracer.errors import TraceError
from debugtracer.trace.facts.health import Health
from debugtracer.trace.store.layer_columns import (
    LAYERS_VERSION,
    LayerColumns,
    columns_of,
    from_batch,
    same_each_time,
    to_batch,
)
from debugtracer.trace.store.schema import check_version
from debugtracer.trace.store.series.live import first_line, torn, write_whole
from debugtracer.trace.store.stream_arrays import as_bytes

FILE = re.compile(r"layers-(\d{6,})\.arrows")
HALVED_BYTES = 4 * 1024**2
"""After so many bytes half as many snapshots are kept from there on: a run of any length stays readable (ours)."""


def new_file(folder: Path, word: str) -> int:
    """Make the next free `WORD-N.arrows` of a rank's folder; return it open. Raises OSError."""
    named = re.compile(rf"{word}-(\d{{6,}})\.arrows")
    number = max((int(m[1]) for name in os.listdir(folder) if (m := named.fullmatch(name))), default=0) + 1
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(folder / f"{word}-{number:06d}.arrows", flags, 0o666)


class LayerLog:
    """One stream of snapshots that grows; names stand in it once, until they change."""

    def __init__(self, folder: Path) -> None:
        """Make the next free file in a rank's folder. Raises OSError."""
        self.file = new_file(folder, "layers")
        self.before: dict[str, list[Any]] = {}
        self.size, self.due, self.seen, self.every = 0, HALVED_BYTES, 0, 1

    def append(self, fact: Health) -> None:
        """Write a snapshot, in a long run every second, fourth, ... one and those of alarms. Raises OSError."""
        self.seen += 1
        if not fact.tensors or not (fact.at_alarm or (self.seen - 1) % self.every == 0):
            return
        columns = columns_of(fact)
        data = as_bytes(to_batch(columns, self.before), first=not self.size)
        self.before = same_each_time(columns)
        write_whole(self.file, data, self.size)
        self.size += len(data)
        if self.size >= self.due:
            self.due, self.every = self.size + HALVED_BYTES, 2 * self.every

    def close(self) -> None:
        """End writing; the file stays."""
        os.close(self.file)


def read_layers(folder: Path) -> tuple[list[LayerColumns], list[str]]:
    """The snapshots of a rank, ascending in step, of a step the last; and a sentence per file that is damaged. Raises
    OSError."""
    found: dict[int, LayerColumns] = {}
    problems: list[str] = []
    for name in sorted(n for n in os.listdir(folder) if FILE.fullmatch(n)) if folder.is_dir() else []:
        try:
            for one in stream_of(folder / name, problems):
                found[one.step] = one
        except TraceError as error:
            problems.append(str(error))
    return [found[step] for step in sorted(found)], problems


def stream_of(path: Path, problems: list[str]) -> list[LayerColumns]:
    """The whole snapshots of a file; damage in its middle is put into `problems`, a torn end is none. Raises
    TraceError."""
    import pyarrow as pa

    data = path.read_bytes()
    source = pa.BufferReader(data)
    found: list[LayerColumns] = []
    at = 0
    try:
        stream = pa.ipc.open_stream(source)
        check_version(path, stream.schema.metadata, LAYERS_VERSION)
        while True:
            at = source.tell()
            batch = stream.read_next_batch()
            batch.validate(full=True)
            if len(batch):
                found.append(from_batch(batch, found[-1] if found else None))
    except StopIteration:
        pass
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        if not torn(error, data[at : at + 8]):
            problems.append(
                f"{path} is damaged after {len(found)} whole snapshots ({first_line(error)}); what comes after them is "
                "lost."
            )
    return found
