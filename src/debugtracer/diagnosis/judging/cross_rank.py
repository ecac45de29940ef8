"""What only several ranks together can show: after the run, by the supervisor, from what each rank has written. Needs
no torch."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path

from debugtracer.checks.check import Check, checks
from debugtracer.diagnosis.judging.rank_end import with_rank_end
from debugtracer.diagnosis.judging.recheck import found_event, observed
from debugtracer.errors import swallow
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.finding import Finding
from debugtracer.trace.step import StepRef
from debugtracer.trace.store.journal import Journal, encode_event
from debugtracer.trace.store.reader import Trace
from debugtracer.trace.store.schema import rank_folder
from debugtracer.trace.window import DEPTH, ENDED, Window


def judge_run(run: Path) -> list[Finding]:
    """Ask the checks about the ranks of a run that is over.

    Findings go to the events of its lowest rank, grave ones also to stderr. Never raises; a run of one rank has nothing
    to compare."""
    try:
        trace = Trace(run)
        if len(trace.ranks) < 2:
            return []
        windows = {rank: last_window(trace, rank) for rank in trace.ranks}
        found = list(judged(windows))
        write(run, min(windows), found)
    except Exception as error:
        swallow("diagnosis.judging.cross_rank", error)
        return []
    for finding in found:
        if finding.severity != "note":
            print(f"debug-tracer: {finding.severity}: {finding.message}", file=sys.stderr, flush=True)
    return found


def judged(windows: Mapping[int, Window], asked: Mapping[str, Check] | None = None) -> Iterator[Finding]:
    """What each check says; one that fails is put aside."""
    for slug, check in (checks() if asked is None else asked).items():
        try:
            yield from check.judge_ranks(windows)
        except Exception as error:
            swallow(f"diagnosis.judging.cross_rank: {slug}", error)


def last_window(trace: Trace, rank: int) -> Window:
    """The last window of one rank, rebuilt from what it has stored."""
    facts: dict[type[Fact], deque[Fact]] = {}
    for fact in observed(trace.events(rank)):
        facts.setdefault(type(fact), deque(maxlen=type(fact).KEEP)).append(fact)
    series: dict[str, list[float]] = {}
    last = 0
    for name in trace.names(rank):
        steps, values = trace.series(name, rank)
        series[name] = values[-DEPTH:]
        last = max(last, steps[-1] if steps else 0)
    window = Window(StepRef(iteration=last, step=last, rank=rank), series, frozenset(), frozenset({ENDED}), (), facts)
    return with_rank_end(window, trace.path, trace.events(rank))


def write(run: Path, rank: int, found: list[Finding]) -> None:
    """Append the findings to the events of a rank. Raises OSError."""
    if not found:
        return
    journal = Journal(rank_folder(run, rank))
    try:
        for finding in found:
            journal.append(encode_event(found_event(run.name, finding)))
    finally:
        journal.close()
