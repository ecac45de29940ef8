"""The shape of the trace on disk: format versions, file names and Arrow schemas; what writer and reader agree on."""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path
from typing import Any, Literal

from debugtracer.errors import TraceError

LIVE_VERSION = 1  # live-N.arrows
SERIES_VERSION = 1  # series-N.parquet; events carry theirs in the first event (events.VERSION)
BLOCK = 1024  # points in a row of a sealed file, and the coarser roll-up
GROUP = 32  # points in one element of the finer roll-up

MANIFEST = "run.json"
LATEST = "latest"  # link in the folder of runs to the newest one
EVENTS = "events.jsonl"
INCIDENTS = "incidents"  # folder of a run: a folder for each incident that was saved
# in the folder of an incident: what a person or a program wants to know first; copies of the user's files
CAPSULE, SOURCES = "capsule.json", "sources"
ATTENDED = "attended"  # a file of a run: a page that shows it is open, as of its time
CONTROL, CONTROL_WORDS = "control", ("stop", "pause", "resume")  # a file of a run: a person's word to it
VERSION_KEY = b"debugtracer.version"
NAMES_KEY = b"debugtracer.series"  # JSON list of the names in a sealed file
THINNED_KEY = b"debugtracer.thinned"  # present once raw rows were dropped for the byte budget

Kind = Literal["live", "series"]
SUFFIX: dict[Kind, str] = {"live": "arrows", "series": "parquet"}
SEGMENT = re.compile(r"(live|series)-(\d{6,})\.(arrows|parquet)")
RANK = re.compile(r"rank=(\d+)")


def rank_folder(run: Path, rank: int) -> Path:
    """The folder of one rank below the run folder."""
    return run / f"rank={rank}"


def segment_path(folder: Path, kind: Kind, number: int) -> Path:
    """The file of segment `number`; a live segment and the sealed file made of it share the number."""
    return folder / f"{kind}-{number:06d}.{SUFFIX[kind]}"


def segments(folder: Path) -> dict[int, Path]:
    """The newest form of each segment, by number ascending: sealed where there is a sealed file, else live. Raises
    OSError."""
    before, names = None, sorted(os.listdir(folder))
    while before != names:  # a rename and a removal during the listing could hide a segment
        before, names = names, sorted(os.listdir(folder))
    found: dict[int, Path] = {}
    for name in names:  # "live" sorts before "series", so the sealed file wins
        if (match := SEGMENT.fullmatch(name)) and match[3] == SUFFIX[match[1]]:  # type: ignore[index]
            found[int(match[2])] = folder / name
    return dict(sorted(found.items()))


def version_metadata(version: int) -> dict[bytes, bytes]:
    """The metadata that says by which format version a file was written."""
    return {VERSION_KEY: str(version).encode()}


def check_version(path: Path, metadata: dict[bytes, bytes] | None, known: int) -> None:
    """Raise TraceError if a file was written by another format version."""
    text = (metadata or {}).get(VERSION_KEY, b"").decode("ascii", "replace")
    if text != str(known):
        seen = f"has trace format {text}" if text else "carries no trace format version"
        raise TraceError(
            f"{path} {seen}; this debug-tracer reads format {known}: read it with the version that wrote it."
        )


@functools.cache
def live_schema() -> Any:
    """The schema of a live stream: a row per series and flush. `steps` is null where steps are step0 + stride * i."""
    import nanoarrow as na

    from debugtracer.trace.store.stream_arrays import stream_schema

    fields = {
        "series": na.string(nullable=False),
        "step0": na.int64(nullable=False),
        "stride": na.int64(nullable=False),
        "steps": na.list_(na.int64()),
        "values": na.list_(na.float32()),
    }
    return stream_schema(fields, version_metadata(LIVE_VERSION))


@functools.cache
def series_schema() -> Any:
    """The schema of a sealed file: a row per series and block of at most 1024 points, ascending in (series, step0).

    min, max and sum are over finite values (null / null / 0 if there are none); `bad` counts the others, `first_bad` is
    the
    step of the first of them. The row itself is the x1024 roll-up; min32, max32, sum32, bad32 are the x32 roll-up (NaN
    where
    a group has no finite value). `values` is null in a thinned row. `steps` is null where steps are step0 + stride * i.
    """
    import pyarrow as pa

    fields = [
        pa.field("series", pa.string(), nullable=False),
        pa.field("step0", pa.int64(), nullable=False),
        pa.field("step1", pa.int64(), nullable=False),
        pa.field("stride", pa.int64(), nullable=False),
        pa.field("steps", pa.list_(pa.int64())),
        pa.field("n", pa.int32(), nullable=False),
        pa.field("min", pa.float32()),
        pa.field("max", pa.float32()),
        pa.field("sum", pa.float64(), nullable=False),
        pa.field("bad", pa.int32(), nullable=False),
        pa.field("first_bad", pa.int64()),
        pa.field("min32", pa.list_(pa.float32())),
        pa.field("max32", pa.list_(pa.float32())),
        pa.field("sum32", pa.list_(pa.float64())),
        pa.field("bad32", pa.list_(pa.int32())),
        pa.field("values", pa.list_(pa.float32())),
    ]
    return pa.schema(fields, metadata={VERSION_KEY: str(SERIES_VERSION).encode()})
