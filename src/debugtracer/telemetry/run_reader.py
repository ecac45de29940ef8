"""Reads a run folder again and again while it is written, and gives what monitoring wants of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from debugtracer.telemetry.metric import METRICS, Sample
from debugtracer.telemetry.reading import Reading, SampledStep
from debugtracer.trace.events import Acted, AnyEvent, Failed, Found, Incident, RankStarted
from debugtracer.trace.store.followed_trace import FollowedTrace
from debugtracer.trace.store.liveness import liveness
from debugtracer.trace.store.signature import signature_of
from debugtracer.trace.window import GRAD_L2, LOSS, OWN_S, SCALER_SKIPPED, STEP_S, WAIT_S

SAMPLED_STEPS = 100  # one step in so many becomes a span (ours: a million steps are 10,000 spans)
MEANS = (STEP_S, WAIT_S, OWN_S)
READ = (*sorted({metric.series for metric in METRICS.values() if metric.series}), SCALER_SKIPPED)
STATUSES = ("running", "paused", "ended", "lost")


class RunReader:
    """One run, followed."""

    def __init__(self, path: Path) -> None:
        """Take a run folder; nothing is read yet."""
        self._trace = FollowedTrace(path)
        self._told: Counter[int] = Counter()
        """Events of each rank that were given out."""
        self._next: dict[tuple[int, str], int] = {}
        """The step from which on a series of a rank was not read yet."""
        self._last: dict[tuple[int, str], float] = {}
        self._steps: Counter[int] = Counter()
        self._skipped: Counter[int] = Counter()

    def read(self) -> Reading:
        """Look once. Raises OSError, TraceError."""
        trace = self._trace.again()
        signature, manifest = signature_of(trace.path), trace.manifest
        events = {rank: trace.events(rank) for rank in trace.ranks}
        every = [event for rank in events for event in events[rank]]
        stands = liveness(manifest, every, signature)
        new = tuple(event for rank in events for event in events[rank][self._told[rank] :])
        samples = [
            Sample("written_timestamp_seconds", stands.written_at),
            *(Sample("run_status", float(word == stands.status), {"status": word}) for word in STATUSES),
            *started(every, manifest.mode, manifest.host),
            *(one for rank in events for one in counts(rank, events[rank])),
        ]
        steps: list[SampledStep] = []
        for rank in events:
            steps += self._series(trace, rank, stands.written_at)
        for word, counted in (("steps", self._steps), ("skipped_updates", self._skipped)):
            samples += [Sample(word, counted[rank], {"rank": str(rank)}) for rank in events]
        samples += [
            Sample(word, self._last[rank, metric.series], {"rank": str(rank)})
            for word, metric in METRICS.items()
            for rank in events
            if (rank, metric.series) in self._last
        ]
        self._told.update({rank: len(events[rank]) - self._told[rank] for rank in events})
        ranks = manifest.world_size or len(events) or 1
        return Reading(manifest.id, manifest.mode, stands.status, ranks, tuple(samples), new, tuple(steps))

    def _series(self, trace: FollowedTrace, rank: int, written_at: float) -> list[SampledStep]:
        """Read what is new of the series of a rank; the answer is one step in many."""
        came: dict[str, dict[int, float]] = {}
        for name in READ:
            steps, values = trace.series(name, rank, start=self._next.get((rank, name)))
            if not steps:
                continue
            came[name] = dict(zip(steps, values, strict=True))
            self._next[rank, name] = steps[-1] + 1
            self._last[rank, name] = mean(values) if name in MEANS else values[-1]
            if name == LOSS:
                self._steps[rank] = steps[-1] + 1
            elif name == SCALER_SKIPPED:
                self._skipped[rank] += sum(map(bool, values))
        return [SampledStep(rank, *one) for one in timed(came, written_at)]


def timed(came: dict[str, dict[int, float]], written_at: float) -> Iterator[tuple[int, float, float, dict[str, float]]]:
    """Yield one step in many with its times: the newest ended when it was written, those before it where their
    followers begin."""
    spent, end_s = came.get(STEP_S, {}), written_at
    for step in sorted(spent, reverse=True):
        begin_s = end_s - (spent[step] if math.isfinite(spent[step]) else 0.0)
        if step % SAMPLED_STEPS == 0:
            yield (
                step,
                begin_s,
                end_s,
                {name: came[name][step] for name in (LOSS, GRAD_L2, WAIT_S) if step in came.get(name, {})},
            )
        end_s = begin_s


def mean(values: Sequence[float]) -> float:
    """The mean of the finite ones; NaN without any."""
    known = [value for value in values if math.isfinite(value)]
    return sum(known) / len(known) if known else math.nan


def started(events: Sequence[AnyEvent], mode: str, host: str) -> Iterator[Sample]:
    """What the run is, as its first rank says."""
    for first in [event for event in events if isinstance(event, RankStarted)][:1]:
        yield Sample("run_info", 1.0, {"mode": mode, "host": host, "torch": first.torch, "device": first.device})


def counts(rank: int, events: Sequence[AnyEvent]) -> Iterator[Sample]:
    """What is counted of the events of one rank."""
    place = {"rank": str(rank)}
    found = Counter((e.finding.check, e.finding.severity) for e in events if isinstance(e, Found))
    for (check, severity), number in found.items():
        yield Sample("findings", number, {**place, "check": check, "severity": severity})
    seen = Counter(
        (e.facts.symptom, (e.verdict.cause if e.verdict is not None else None) or "unknown")
        for e in events
        if isinstance(e, Incident)
    )
    for (symptom, cause), number in seen.items():
        yield Sample("incidents", number, {**place, "symptom": symptom, "cause": cause})
    for action, number in Counter(e.action for e in events if isinstance(e, Acted)).items():
        yield Sample("actions", number, {**place, "action": action})
    failed = {e.where: e.count for e in events if isinstance(e, Failed)}
    yield Sample("failures", sum(failed.values()), place)
