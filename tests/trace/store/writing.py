"""A program that really writes a trace, for the tests that kill, follow or starve it:
`python writing.py RUN [key=value ...]`, or `... zygote RUN_PARENT`."""

from __future__ import annotations

import os
import resource
import struct
import sys
import time
from pathlib import Path

from debugtracer.trace.events import Noted
from debugtracer.trace.store.writer import TraceWriter

PER_FLUSH = 5
MOST_STEPS = 5000  # a writer nobody kills ends by itself


def loss(step: int) -> float:
    return 1.0 + (step % 97) / 128  # exact in float32


def write(run: Path, first: int = 0, steps: int = MOST_STEPS, pause_s: float = 0.0, **options: float) -> TraceWriter:
    """Steps and a numbered event per flush; the number of the last flushed step goes to stdout once the flush
    returned."""
    writer = TraceWriter(run, 0, **options)  # type: ignore[arg-type]
    for step in range(first, first + steps):
        writer.point(step, {"loss": loss(step), "lr": 0.5})
        if step % PER_FLUSH == PER_FLUSH - 1:
            writer.event(Noted(at=step, what="flush", text=str(step)), now=True)
            os.write(1, struct.pack("<q", step))
            time.sleep(pause_s)
    writer.close()
    return writer


def zygote() -> None:
    """For each run folder on stdin: forks a writer, answers its pid, waits for a line and then for its end. Saves 50
    interpreter starts."""
    import pyarrow.parquet  # noqa: F401

    while line := sys.stdin.readline():
        pid = os.fork()
        if pid == 0:
            write(Path(line.strip()), flush_s=0.003, segment_flushes=4)
            os._exit(0)
        os.write(2, f"{pid}\n".encode())
        sys.stdin.readline()  # the parent has killed it; until then its pid stays its own
        os.waitpid(pid, 0)
        os.write(1, struct.pack("<q", -1))


if __name__ == "__main__":
    if sys.argv[1] == "zygote":
        zygote()
    else:
        options = {
            key: float(value) if "." in value else int(value)
            for key, value in (word.split("=") for word in sys.argv[2:])
        }
        limit = int(options.pop("limit", 0))
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        writer = write(Path(sys.argv[1]), **options)
        print(f"trained to the end, off: {writer.off}", file=sys.stderr)
