"""The contract of an export: a trace in, files of another tool out."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from debugtracer.exports.progress import Progress
from debugtracer.plugins import members
from debugtracer.trace.number import as_float
from debugtracer.trace.store.reader import Trace
from debugtracer.trace.window import STEP_S
from debugtracer.views.json_report import report
from debugtracer.views.layers import snapshots
from debugtracer.views.words.action_lines import ActionLine, action_lines


@dataclass(frozen=True)
class Export:
    """Base of all exports."""

    word: ClassVar[str]
    """The word of `--to`."""

    def write(self, trace: Trace, folder: Path, progress: Progress | None = None) -> Path:
        """Write the run into a folder that exists, or what is new since `progress`; return what is opened with the
        other tool. Raises OSError."""
        raise NotImplementedError


@functools.cache
def exports() -> dict[str, Export]:
    """Every export by its `--to` word. The folder is the registry."""
    import debugtracer.exports

    return {export.word: export for export in members(debugtracer.exports, Export).values()}


def series_of(
    trace: Trace, rank: int, progress: Progress | None = None
) -> Iterator[tuple[str, list[int], list[float]]]:
    """Yield each series of a rank with steps and values, then the norm of each tensor: `gradient/fc1.weight`; with
    `progress` what is new since."""
    progress = progress or Progress()
    for name in trace.names(rank):
        steps, numbers = trace.series(name, rank, progress.after(rank, name))
        progress.wrote(rank, name, steps)
        if steps:
            yield name, steps, numbers
    # a snapshot is on disk before the numbers of its step: other tools take the steps in their order alone
    ready = max((progress.last.get((rank, name), -1) for name in trace.names(rank)), default=-1)
    norms: dict[str, dict[int, float]] = {}
    for fact in snapshots(trace, rank):
        for row in fact.tensors:
            if row.l2 is not None:
                norms.setdefault(f"{row.role}/{row.name}", {})[fact.ref.step] = as_float(row.l2)
    for name, values in norms.items():
        due = [step for step in values if step >= progress.after(rank, name)]
        new = sorted(step for step in due if progress.over or step <= ready)
        progress.wrote(rank, name, new)
        if new:
            yield name, new, [values[step] for step in new]


def new_actions(trace: Trace, rank: int, progress: Progress) -> list[ActionLine]:
    """Return what was done on a rank and what came of it, since `progress`."""
    before = progress.actions.get(rank, 0)
    lines = action_lines(trace, rank, before)
    progress.actions[rank] = before + len(lines)
    return lines


def clock_of(trace: Trace, rank: int) -> dict[int, float]:
    """Count the seconds from the start to the end of each step; the waits for batches are in a step's time."""
    steps, values = trace.series(STEP_S, rank)
    spent = (value if math.isfinite(value) else 0.0 for value in values)
    return dict(zip(steps, itertools.accumulate(spent), strict=True))


def second_of(clock: dict[int, float], step: int) -> float:
    """The second at the end of a step, or of the last one before it whose time is known."""
    if step in clock or not clock:
        return clock.get(step, 0.0)
    last = next(reversed(clock))
    return clock[last] if step > last else next((clock[one] for one in range(step, -1, -1) if one in clock), 0.0)


def rows_of(trace: Trace, rank: int, progress: Progress | None = None) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield every step of a rank in order, with all that was measured at it by name."""
    rows: dict[int, dict[str, float]] = {}
    for name, steps, values in series_of(trace, rank, progress):
        for step, value in zip(steps, values, strict=True):
            rows.setdefault(step, {})[name] = value
    yield from sorted(rows.items())


def ending_of(trace: Trace) -> dict[str, str]:
    """How the run was started and how it ended, with class, line and sentence of its verdict, as words by name."""
    manifest, told = trace.manifest, report(trace)["verdict"] or {}
    known = {
        "command": " ".join(manifest.command),
        "exit_code": "" if manifest.exit_code is None else str(manifest.exit_code),
        "verdict": told.get("summary"),
        "verdict_class": told.get("class"),
        "verdict_line": f"{told['file']}:{told['line']}" if told.get("file") and told.get("line") else None,
    }
    return {name: value for name, value in known.items() if value}
