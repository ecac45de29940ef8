"""The live segment: an Arrow IPC stream that whole batches are appended to, and how one is read while it grows or after
it was torn."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from debugtracer.errors import TraceError
from debugtracer.trace.store.schema import LIVE_VERSION, check_version, segment_path, segments

# What pyarrow says of a stream that ends too early; anything else is damage.
TORN = (
    "Expected to read",
    "Expected to be able to read",
    "Corrupted metadata length, only",
    "Corrupted message, only",
    "null or length 0",
)
MARKER = b"\xff\xff\xff\xff"  # begins every message of a stream
MOST_METADATA = 1 << 24  # bytes; a longer header of a message is damage


class LiveSegment:
    """One new stream in a rank's folder. Bytes go straight to the operating system: nothing is buffered, so a fork
    cannot write twice."""

    def __init__(self, folder: Path) -> None:
        """Make the next free segment; an existing stream is never appended to, for its end may be torn. Raises
        OSError."""
        self.number = max(segments(folder), default=0) + 1
        while True:
            try:
                self.path = segment_path(folder, "live", self.number)
                self.file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
                break
            except FileExistsError:  # another process of this rank was faster
                self.number += 1
        self.size = 0
        self.flushes = 0

    def append(self, batch: Any) -> None:
        """Append one whole batch in one write. Raises OSError; the stream then ends where it ended before."""
        from debugtracer.trace.store.stream_arrays import as_bytes

        write_whole(self.file, as_bytes(batch, first=not self.size), self.size)
        self.size = os.fstat(self.file).st_size
        self.flushes += 1

    def close(self) -> None:
        """End writing; the file stays."""
        os.close(self.file)


def write_whole(file: int, data: bytes, start: int) -> None:
    """Write all of `data`, or nothing of it and raise OSError."""
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(file, view) :]
    except OSError:
        os.ftruncate(file, start)
        raise


def read_live(path: Path) -> tuple[Any, str | None]:
    """The whole batches of a stream as a table (None if there is no schema yet) and a sentence if it is damaged, not
    just torn.

    Raises FileNotFoundError if it was sealed meanwhile, TraceError if it is no stream of ours.
    """
    import pyarrow as pa

    data = path.read_bytes()
    if not MARKER.startswith(data[:4]):
        raise TraceError(
            f"{path} is not an Arrow IPC stream (it begins with {data[:4]!r}); it was overwritten, the other files of "
            "the run are not affected."
        )
    source = pa.BufferReader(data)
    try:
        stream = pa.ipc.open_stream(source)
    except (pa.ArrowInvalid, OSError) as error:
        if torn(error, data[:8]):
            return None, None
        raise TraceError(f"{path} is damaged at its start ({first_line(error)}); no batch of it can be read.") from None
    check_version(path, stream.schema.metadata, LIVE_VERSION)
    batches: list[Any] = []
    problem = None
    while True:
        at = source.tell()
        try:
            batch = stream.read_next_batch()
            batch.validate(full=True)
        except StopIteration:
            break
        except (pa.ArrowInvalid, pa.ArrowException, OSError) as error:
            whole = f"{path} is damaged after {len(batches)} whole batches"
            problem = (
                None
                if torn(error, data[at : at + 8])
                else f"{whole} ({first_line(error)}); what comes after them is lost."
            )
            break
        batches.append(batch)
    return pa.Table.from_batches(batches, schema=stream.schema).combine_chunks(), problem


def torn(error: BaseException, head: bytes) -> bool:
    """Whether pyarrow complains of an early end only, in a message whose first bytes (marker, length) are `head`."""
    sane = MARKER.startswith(head[:4]) and (
        len(head) < 8 or 0 <= int.from_bytes(head[4:], "little", signed=True) < MOST_METADATA
    )
    return sane and any(text in str(error) for text in TORN)


def first_line(error: BaseException) -> str:
    """The first line of an error's text."""
    return (str(error).splitlines() or [type(error).__name__])[0]
