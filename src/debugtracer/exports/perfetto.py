"""A trace for ui.perfetto.dev and chrome://tracing: steps as slices, series as counters, marks for what was told."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from debugtracer.exports.export import Export, clock_of, series_of
from debugtracer.exports.progress import Progress
from debugtracer.trace.store.reader import Trace
from debugtracer.views.view import findings
from debugtracer.views.words.action_lines import action_lines

US = 1e6  # the format counts in microseconds


@dataclass(frozen=True)
class Perfetto(Export):
    """One JSON file of trace events; a process is a rank. A value that is not finite is a mark: JSON has no NaN."""

    word: ClassVar[str] = "perfetto"

    def write(self, trace: Trace, folder: Path, progress: Progress | None = None) -> Path:
        """Write trace.json, all ranks in it: each time whole, and put in place when it is."""
        events = [event for rank in trace.ranks for event in of_rank(trace, rank)]
        path = folder / "trace.json"
        beside = folder / ".trace.json"
        beside.write_bytes(msgspec.json.encode({"traceEvents": events, "displayTimeUnit": "ms"}))
        beside.replace(path)
        return path


def of_rank(trace: Trace, rank: int) -> Iterator[dict[str, Any]]:
    """The events of one rank; a step without a measured time stands where the one before it ended."""
    clock = clock_of(trace, rank)
    ends = sorted(clock)

    def at(step: int) -> float:
        before = bisect.bisect_right(ends, step)
        return US * clock[ends[before - 1]] if before else 0.0

    here = {"pid": rank, "tid": 0}
    yield {"ph": "M", "name": "process_name", "args": {"name": f"rank {rank}"}, **here}
    for name, steps, values in series_of(trace, rank):
        for step, value in zip(steps, values, strict=True):
            if not math.isfinite(value):
                yield {"ph": "i", "s": "p", "name": f"{name} is {value} at step {step}", "ts": at(step), **here}
            elif name == "step_s":
                yield {"ph": "X", "name": f"step {step}", "ts": at(step) - US * value, "dur": US * value, **here}
            elif name != "wait_s":
                yield {"ph": "C", "name": name, "ts": at(step), "args": {"value": value}, **here}
    for finding in findings(trace):
        if finding.rank == rank:
            name = f"{finding.severity}: {finding.check}"
            args = {"message": finding.message, "step": finding.step}
            yield {"ph": "i", "s": "p", "name": name, "ts": at(finding.step), "args": args, **here}
    for line in action_lines(trace, rank):
        args = {"message": line.text, "step": line.step}
        yield {"ph": "i", "s": "p", "name": f"action: {line.word}", "ts": at(line.step), "args": args, **here}
