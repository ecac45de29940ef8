"""The lines of the timeline: each series whole where it is short, else in bins with every value around the incident."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Any

from debugtracer.trace.events import Acted, ActionEffect, Crashed, Incident
from debugtracer.trace.store.reader import Trace
from debugtracer.views.page.launchers import launchers
from debugtracer.views.page.memory_lines import memory_lines
from debugtracer.views.view import findings
from debugtracer.views.words.action_lines import line_of

WHOLE = 3000  # values of a series shown one by one
BINS = 1500
CLOSE = 150  # steps before and after the focus that a binned series shows one by one
MOST_SERIES = 40
MOST_MARKS = 2000
FIRST = ("loss", "val_loss", "grad_l2", "lr", "scale", "step_s", "wait_s", "param_l2", "own_s")


def series_panel(trace: Trace, rank: int, focus: int | None) -> list[dict[str, Any]]:
    """The series of one rank, those that everybody knows first, the memory last."""
    known = trace.names(rank)
    names = [*(n for n in FIRST if n in known), *(n for n in known if n not in FIRST)]
    lines = [line(trace, name, rank, focus) for name in names[:MOST_SERIES]]
    return [*(one for one in lines if one["x"]), *memory_lines(trace, rank)]


def line(trace: Trace, name: str, rank: int, focus: int | None) -> dict[str, Any]:
    """Read one series: steps `x`, values `y` (of a bin its mean), and for bins the range `lo`, `hi`."""
    bins = trace.overview(name, rank, BINS)
    if sum(one.n for one in bins) <= WHOLE:
        steps, values = trace.series(name, rank)
        return {"name": name, "x": steps, "y": [short(v) for v in values]}
    close: tuple[list[int], list[float]] = ([], [])
    if focus is not None:
        close = trace.series(name, rank, focus - CLOSE, focus + CLOSE + 1)
    rows = [
        ((b.step0 + b.step1) // 2, mean_of(b.mean, b.bad), b.low, b.high)
        for b in bins
        if bisect_left(close[0], b.step0) == bisect_right(close[0], b.step1)  # none of its steps is shown by itself
    ]
    rows += [(step, short(value), None, None) for step, value in zip(*close, strict=True)]
    rows.sort(key=lambda row: row[0])
    columns = list(zip(*rows, strict=True))
    return {
        "name": name,
        "x": list(columns[0]),
        "y": list(columns[1]),
        "lo": [short(v) for v in columns[2]],
        "hi": [short(v) for v in columns[3]],
    }


def mean_of(mean: float | None, bad: int) -> float | str | None:
    """The value of a bin: NaN where anything in it is not finite, so that it is seen."""
    return "NaN" if bad else short(mean)


def short(value: float | None) -> float | str | None:
    """Round to six digits; non-finite numbers as words."""
    if value is None:
        return None
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return float(f"{value:.6g}")


def marks(trace: Trace) -> list[dict[str, Any]]:
    """What happened when: incidents, findings, actions and crashes, by step."""
    return sorted(marked(trace), key=lambda mark: (mark["step"], mark["kind"]))[:MOST_MARKS]


def marked(trace: Trace) -> Iterable[dict[str, Any]]:
    """Every mark, in the order in which it was written."""
    for finding in findings(trace):
        yield {
            "step": finding.step,
            "kind": finding.severity,
            "rank": finding.rank,
            "name": finding.check,
            "text": finding.message,
            "limit": finding.evidence.get("grad_limit"),
        }
    starters = launchers(trace)
    for event in trace.events():
        if isinstance(event, Incident):
            summary = event.verdict.summary if event.verdict is not None else event.facts.symptom
            yield {
                "step": event.facts.ref.step,
                "kind": "incident",
                "rank": event.rank,
                "name": event.facts.symptom,
                "text": summary,
            }
        elif isinstance(event, Acted | ActionEffect):
            line = line_of(event)
            yield {"step": line.step, "kind": "action", "rank": line.rank, "name": line.word, "text": line.text}
        elif isinstance(event, Crashed) and (event.iteration or event.rank not in starters):  # theirs is at no step
            text = f"{event.error}: {event.message}"[:400]
            yield {"step": event.step, "kind": "crash", "rank": event.rank, "name": event.error, "text": text}
