"""What the ranks of a run say about its end; tolerant, for it is asked of runs that died."""

from __future__ import annotations

from pathlib import Path

from debugtracer.errors import TraceError
from debugtracer.trace.events import Acted, AnyEvent, Found
from debugtracer.trace.finding import SEVERITIES, Finding, grave
from debugtracer.trace.store.journal import read_events


def events_of_ranks(run: Path) -> dict[int, list[AnyEvent]]:
    """The events of each rank that opened its files; a rank whose file is damaged beyond reading has none."""
    known: dict[int, list[AnyEvent]] = {}
    for folder in sorted(run.glob("rank=*")):
        number = folder.name.removeprefix("rank=")
        if number.isdigit():
            try:
                known[int(number)] = read_events(folder)[0]
            except TraceError:
                known[int(number)] = []
    return dict(sorted(known.items()))


def stopped_by_tracer(run: Path) -> bool:
    """Whether debug-tracer stopped any rank, whatever status a launcher made of it."""
    return any(isinstance(e, Acted) and e.action == "stop" for events in events_of_ranks(run).values() for e in events)


def findings_at_least(run: Path, severity: str) -> list[Finding]:
    """The findings of all ranks at least as severe as this word, the gravest and earliest first; none for `off`."""
    if severity not in SEVERITIES:
        return []
    found = [e.finding for events in events_of_ranks(run).values() for e in events if isinstance(e, Found)]
    return sorted(
        (f for f in found if grave(f.severity) >= grave(severity)),
        key=lambda f: (-grave(f.severity), f.iteration, f.rank, f.check),
    )
