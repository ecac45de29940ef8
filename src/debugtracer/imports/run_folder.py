"""From a log that others wrote to a run folder of ours, judged and closed."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from debugtracer.errors import UsageError
from debugtracer.imports.importer import Log
from debugtracer.trace.events import IMPORTED, AnyEvent, Noted, RankEnded, RankStarted
from debugtracer.trace.store.manifest import create_run, end_run
from debugtracer.trace.store.reader import Trace
from debugtracer.trace.store.writer import TraceWriter

Judge = Callable[[Trace], Iterable[AnyEvent]]
FLUSH_POINTS = 100_000  # points handed to the writer before they are waited for


def import_run(log: Log, out: Path, judge: Judge) -> Path:
    """A new run folder below `out` (or below the temporary folder where that cannot be written) with the numbers and
    what `judge` says of them."""
    run = new_run(log, out)
    writer = TraceWriter(run, 0)
    writer.event(RankStarted(at=time.time(), pid=os.getpid(), mode="observe"))
    writer.event(Noted(at=time.time(), what=IMPORTED, text=f"{log.format}: {log.source}"))
    for count, (step, values) in enumerate(log.points.items(), 1):
        writer.point(step, values)
        if count % FLUSH_POINTS == 0:
            writer.flush()
    writer.flush()
    for event in judge(Trace(run)):
        writer.event(event)
    steps = max(log.points) + 1
    writer.event(RankEnded(at=time.time(), steps=steps, iterations=steps))
    writer.close()
    if writer.off:
        raise UsageError(f"{run} cannot be written ({writer.off}); start where there is room")
    end_run(run, None, False)
    return run


def new_run(log: Log, out: Path) -> Path:
    """An empty run folder named after the log."""
    name = (
        "imported-"
        + re.sub(
            r"[^A-Za-z0-9._+=-]+",
            "-",
            log.source.stem if log.source.suffix == ".csv" and log.source.stem != "metrics" else folder_name(log),
        )[:100]
    )
    try:
        return create_run(out, name, [str(log.source)], "observe")
    except OSError:
        return create_run(Path(tempfile.mkdtemp(prefix="debug-tracer-")), name, [str(log.source)], "observe")


def folder_name(log: Log) -> str:
    """The folder a log lies in: checkpoint-500, version_0, Nov21_12-00-00_host."""
    folder = log.source if log.source.is_dir() else log.source.absolute().parent
    return folder.name or "log"
