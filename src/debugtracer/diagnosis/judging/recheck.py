"""A stored run judged again: its series and facts go through the same judge in the order of its steps, with other
options if asked for. Needs no torch."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, repeat
from operator import itemgetter
from time import thread_time
from time import time as wall_time

import msgspec

from debugtracer.checks.check import Check
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.diagnosis.judging.rank_end import with_rank_end
from debugtracer.errors import DebugTracerError
from debugtracer.trace.events import IMPORTED, AnyEvent, Found, Judged, Noted, Observed, RankEnded
from debugtracer.trace.facts.fact import Fact, from_plain
from debugtracer.trace.finding import Finding
from debugtracer.trace.step import StepRef, step_id
from debugtracer.trace.store.reader import Trace
from debugtracer.trace.window import GRAD_L2, SCALER_SKIPPING, Window

NO_VERDICT = "The verdict says where it was born."
RUN_IT = "Run it under `debug-tracer run` to learn where it is born."


class Rechecked(Trace):
    """The same run with the findings of now in the place of the stored ones; those of an incident stay, for its step
    was replayed."""

    def __init__(self, trace: Trace, checks: Mapping[str, Check]) -> None:
        super().__init__(trace.path)
        self.again = list(recheck(trace, checks))
        self._note(trace.problems)

    def events(self, rank: int | None = None, *, snapshots: bool = True) -> list[AnyEvent]:
        """Return the events as stored, with the judge's own replaced by the new ones."""
        kept = [
            event
            for event in super().events(rank, snapshots=snapshots)
            # before findings were marked, those of an incident alone had a trace id
            if not isinstance(event, Judged) and not (isinstance(event, Found) and (event.judged or not event.trace_id))
        ]
        return kept + [event for event in self.again if rank is None or event.rank == rank]


def recheck(trace: Trace, checks: Mapping[str, Check]) -> Iterator[Found | Judged]:
    """What the checks say of each rank of a stored run, then of all of them together."""
    windows: dict[int, Window] = {}
    for rank in trace.ranks:
        judge = Judge(checks)
        begin, steps = thread_time(), 0
        events = trace.events(rank)
        # nobody saw its non-finite numbers when they came
        foreign = any(isinstance(event, Noted) and event.what == IMPORTED for event in events)
        last = StepRef(iteration=0, step=0, rank=rank)
        for ref, values, facts in replayed(trace, rank, events):
            last, steps = ref, steps + bool(values)
            yield from as_events(trace.path.name, judge.judge(ref, values, facts))
            if foreign:
                yield from as_events(trace.path.name, alarms(judge, trace, ref, values))
        yield from as_events(trace.path.name, judge.end(last, late(events, last)))
        windows[rank] = with_rank_end(judge.window(last), trace.path, events)
        judge_us = 1e6 * (thread_time() - begin) / max(steps, 1)
        yield Judged(
            at=wall_time(),
            rank=rank,
            asked=dict(judge.asked),
            fed=judge.fed(),
            short=judge.short(),
            unseen=judge.unseen(),
            near=judge.nearness(),
            judge_us=judge_us,
        )
    if len(windows) > 1:
        for check in checks.values():
            yield from as_events(trace.path.name, check.judge_ranks(windows))


def as_events(run: str, found: Iterable[Finding]) -> Iterator[Found]:
    """Wrap findings of a run in events of the present time."""
    return (found_event(run, finding) for finding in found)


def found_event(run: str, finding: Finding) -> Found:
    """The event of a finding of the judge."""
    trace_id = step_id(run, finding.rank, finding.iteration)
    return Found(at=wall_time(), rank=finding.rank, trace_id=trace_id, finding=finding, judged=True)


def replayed(trace: Trace, rank: int, events: list[AnyEvent]) -> Iterator[tuple[StepRef, dict[str, float], list[Fact]]]:
    """Yield each step of a rank with its numbers and facts, in order. Thinned raw values are not replayed."""
    columns = {name: trace.series(name, rank) for name in trace.names(rank)}
    end = max((steps[-1] for steps, _ in columns.values() if steps), default=math.inf)
    facts: dict[int, list[Fact]] = {}
    for fact in observed(events):
        if fact.ref.step <= end:
            facts.setdefault(fact.ref.step, []).append(fact)
    points = [zip(steps, repeat(name), values, strict=False) for name, (steps, values) in columns.items()]
    moments = heapq.merge(*points, ((step, "", 0.0) for step in sorted(facts)))
    count = counting(events)
    for step, group in groupby(moments, key=itemgetter(0)):
        came = facts.get(step, [])
        iteration = came[-1].ref.iteration if came else (step + 1) * count - 1
        yield (
            StepRef(iteration=iteration, step=step, rank=rank),
            {name: value for _, name, value in group if name},
            came,
        )


def late(events: list[AnyEvent], last: StepRef) -> list[Fact]:
    """The facts observed after the last step: they came with the end of the run."""
    return [fact for fact in observed(events) if fact.ref.step > last.step]


def observed(events: list[AnyEvent]) -> Iterator[Fact]:
    """The facts of a rank as they were written; kinds of other versions are left out."""
    for event in events:
        if isinstance(event, Observed):
            try:
                fact = from_plain(event.word, event.fact)
            except DebugTracerError:
                continue
            if fact is not None:
                yield fact


def counting(events: list[AnyEvent]) -> int:
    """The backward calls per step, where that is a whole number; 1 otherwise."""
    ended = [event for event in events if isinstance(event, RankEnded) and event.steps]
    return ended[-1].iterations // ended[-1].steps if ended and ended[-1].iterations % ended[-1].steps == 0 else 1


def alarms(judge: Judge, trace: Trace, ref: StepRef, values: Mapping[str, float]) -> Iterator[Finding]:
    """What the checks say of the non-finite numbers of a step that no alarm was raised for."""
    bad = {name for name, value in values.items() if not math.isfinite(value)}
    if not bad:
        return
    healed = GRAD_L2 in bad and any(map(math.isfinite, trace.series(GRAD_L2, ref.rank, start=ref.step + 1)[1]))
    # an update made of it would have left no finite gradient
    flags = frozenset({SCALER_SKIPPING}) if healed else frozenset()
    window = Window(ref, judge.series, frozenset(values), flags)
    for check in judge.checks:
        if check.layer == "numerics" and not bad.isdisjoint(need for need in check.needs if isinstance(need, str)):
            for finding in judge.ask(check, window):
                yield msgspec.structs.replace(finding, message=finding.message.replace(NO_VERDICT, RUN_IT))
