"""What was read of a log that others wrote: rows and steps, values of each series, and the checks that it is too short
for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from debugtracer.trace.counted import counted
from debugtracer.trace.events import IMPORTED, Judged, Noted
from debugtracer.trace.store.reader import Trace
from debugtracer.views.view import Row

MOST_NAMES = 8


@dataclass(frozen=True)
class LogRead:
    """The numbers of an imported log; a row is a step at which something was logged."""

    source: str
    rows: int
    first: int
    last: int
    series: dict[str, int]
    """Values of each series, under the name the report uses."""
    short: dict[str, int]
    """Check -> values it needs and did not get."""
    bad: str
    """Where the first non-finite number stands, "" if all are finite."""

    @property
    def names(self) -> str:
        """Format the names of the series: `grad_l2, loss, lr and 3 more`."""
        shown = list(self.series)[:MOST_NAMES]
        return ", ".join(shown) + (
            f" and {len(self.series) - MOST_NAMES} more" if len(self.series) > MOST_NAMES else ""
        )

    def as_plain(self) -> dict[str, Any]:
        """Convert to plain values for the machine-readable report."""
        return {
            "source": self.source,
            "rows": self.rows,
            "first_step": self.first,
            "last_step": self.last,
            "series": self.series,
            "first_bad": self.bad or None,
            "too_short_for": self.short,
        }


def log_read(trace: Trace) -> LogRead | None:
    """The log that a run was imported from; None for a run that was watched."""
    events = trace.events()
    source = next((event.text for event in events if isinstance(event, Noted) and event.what == IMPORTED), None)
    if source is None:
        return None
    steps: set[int] = set()
    series: dict[str, int] = {}
    for name in trace.names():
        at, _ = trace.series(name)
        steps |= set(at)
        series[name.removeprefix("logged/")] = len(at)
    short = {slug: least for event in events if isinstance(event, Judged) for slug, least in event.short.items()}
    bad = trace.first_bad()
    where = f"{bad.series.removeprefix('logged/')} at step {bad.step}" if bad else ""
    return LogRead(source, len(steps), min(steps, default=0), max(steps, default=0), series, short, where)


def span(log: dict[str, Any]) -> str:
    """Format what was read: `59 rows of the log read, steps 500..29500`."""
    return f"{counted(log['rows'], 'row')} of the log read, steps {log['first_step']}..{log['last_step']}"


def rows(log: LogRead) -> list[Row]:
    """What was read, and which checks have too few values to judge."""
    counts = ", ".join(f"{name} {count}" for name, count in list(log.series.items())[:MOST_NAMES])
    told = [("read", f"{span(log.as_plain())}; values: {counts}", "")]
    few = ", ".join(f"{slug.split('/')[1]} ({least} values)" for slug, least in log.short.items())
    return [*told, ("short", f"too few rows for {few}: their silence means nothing here", "bold")] if few else told
