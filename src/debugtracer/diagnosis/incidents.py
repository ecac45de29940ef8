"""An alarm becomes an incident: replayed, judged, saved, shown, and in mode dev the run is stopped."""

from __future__ import annotations

import contextlib
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from time import time as wall_time
from typing import Any

import msgspec

from debugtracer.checks.selection import select
from debugtracer.diagnosis.council import Council
from debugtracer.diagnosis.gather import gather
from debugtracer.diagnosis.heard import heard
from debugtracer.diagnosis.jumps import Jumps
from debugtracer.diagnosis.keeper import Keeper
from debugtracer.diagnosis.live import LiveChecks
from debugtracer.diagnosis.onset import began
from debugtracer.diagnosis.prove import prove
from debugtracer.diagnosis.trials import Budget
from debugtracer.errors import StoppedByTracer, swallow
from debugtracer.library.library import library_of, seen_before
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.ledger import Ledger
from debugtracer.recorder.output import Output
from debugtracer.recorder.recorder import Recorder
from debugtracer.recorder.ring import Ring
from debugtracer.replay.investigate import Result, investigate
from debugtracer.replay.reyield import ReYield
from debugtracer.replay.scene import Scene
from debugtracer.trace.events import Diagnosed, Found, Judged
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.finding import Finding
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.number import Number, number
from debugtracer.trace.step import StepRef
from debugtracer.trace.verdict import Verdict

MOST_SAID = 8  # findings said on stderr while the run goes on; all of them are in the report (ours)
KEPT = 50  # last values of each series shown with an incident (STYLE 4.4: "the last 50 were ...")


class Incidents:
    """Opens incidents for one process. What raises here is swallowed, but for the stop."""

    def __init__(
        self,
        output: Output,
        *,
        stops: bool,
        most: int,
        capsule_bytes: int,
        preset: str = "default",
        budget: Budget | None = None,
        state_bytes: int = 4 * 1024**3,
    ) -> None:
        self.output = output
        self.keeper = Keeper(output, stops)
        self.stops = stops
        self.stopped: type[BaseException] = StoppedByTracer
        """What the stop is raised as; a notebook has its own."""
        self.most = most
        self.capsule_bytes = capsule_bytes
        self.budget = budget or Budget()
        self.state_bytes = state_bytes
        """Bytes of parameters and optimizer state that trials may copy."""
        self.scene: Scene | None = None
        self.recorder: Recorder | None = None
        self.built: Mapping[Any, Any] = {}
        """Raw user frames of each optimizer's constructor."""
        self.recent: dict[str, deque[float]] = {}
        self.count = 0
        self.at_incident: Callable[[], Sequence[Fact]] = tuple
        """Told before an incident is written down, answers with the facts of its step; must not raise."""
        self.said = 0
        """Lines on stderr about findings."""
        self.ledger = Ledger(output)
        self.ring: Ring | None = None
        self.step_s: Callable[[], float] = lambda: 0.0
        """Seconds of the last step."""
        self.library: Path | None = None
        """File of the team's own library of incidents and what cured them, where the settings name one."""
        self.jumps = Jumps(self)
        self.found: list[Finding] = []
        """What the checks have said, in order; notes included."""
        self.live = LiveChecks(self.tell, select(preset))
        self.waited = 0
        """Steps called since a bad one began to wait for its re-yield."""
        self.council: Council | None = None
        """Mode dev only: ranks that train together decide together."""
        self.reyield: ReYield | None = None
        """Mode dev only: the loop gets the bad batch again when its tape was refused."""

    def step_done(self, step: int, values: dict[str, float], facts: Sequence[Fact] = ()) -> None:
        """The numbers of a step and what the probes have seen: remembered for the evidence, kept, and put to the checks."""
        self.jumps.seen(step, values)
        self.remember(values)
        facts = self.ledger.keep(facts)
        if self.recorder is not None:
            quiet = self.recorder.quiet_until_healthy  # an incident is open: its numbers are no news
            ref = StepRef(iteration=max(self.recorder.iteration - 1, 0), step=step, rank=self.output.rank)
            self.live.step(ref, {} if quiet else values, facts)

    def finish(self, facts: Sequence[Fact] = ()) -> None:
        """The run is over: what is still unjudged is judged, and which checks were asked is written down."""
        facts = self.ledger.keep(facts)
        if self.output.writer is None and not facts:
            return
        self.live.finish(facts)
        self.jumps.look(over=True)  # the judge of a fast loop speaks when the loop is over
        self.hear()
        judge = self.live.judge
        judge_us = 1e6 * self.live.judge_s / max(self.live.steps, 1)
        self.output.event(Judged(at=wall_time(), rank=self.output.rank, asked=dict(judge.asked), fed=judge.fed(), short=judge.short(), judge_us=judge_us))

    def hear(self) -> None:
        """What the cause of the leading finding says of all of them: written down last, so that it is the first that a view meets."""
        try:
            told = heard(self.found, self.jumps.verdicts)
        except Exception as error:
            swallow("diagnosis.heard", error)
            return
        if told is not None:
            check, verdict = told
            self.output.event(Diagnosed(at=wall_time(), rank=verdict.rank, check=check, verdict=verdict), now=True)

    def tell(self, finding: Finding) -> None:
        """A check has spoken without an alarm: written down, and said in one line when it is grave. Called by the judge's thread."""
        self.output.event(Found(at=wall_time(), rank=finding.rank, finding=finding), now=finding.severity != "note")
        self.found.append(finding)
        self.jumps.found(finding)
        if finding.severity != "note" and self.said < MOST_SAID:
            self.said += 1
            print(f"debug-tracer: {finding.severity}: {finding.message}", file=sys.stderr, flush=True)

    def between_steps(self) -> None:
        """A step is over and the next has not begun: a jump of the loss that waits is looked into."""
        self.jumps.look()

    def remember(self, values: dict[str, float]) -> None:
        """Last values of the main series, for the evidence."""
        for name, value in values.items():
            if name not in self.recent:
                self.recent[name] = deque(maxlen=KEPT)
            self.recent[name].append(value)

    def forget(self) -> None:
        """A forked child starts from nothing."""
        self.recent.clear()
        self.ledger.forget()
        self.live.forget()
        self.jumps.forget()
        self.found.clear()
        self.count = self.said = 0

    def open(self, alarm: Alarm) -> None:
        """Look into an alarm. Raises StoppedByTracer in mode dev, nothing else."""
        if self.council is not None and self.council.holds(alarm):
            return
        if self.attempt(alarm) and self.stops:
            raise self.stopped

    def attempt(self, alarm: Alarm) -> bool:
        """True when an incident was opened; what fails in it is counted."""
        if self.count >= self.most or self.scene is None or self.recorder is None:
            return False
        try:
            return self.look_into(alarm) if self.reyield is None or not self.reyield.held else self.look_again(alarm)
        except Exception as error:
            swallow("diagnosis.incidents", error)
            return False

    def at_gate(self, bad: bool, alarm: Callable[[], Alarm]) -> bool:
        """All ranks decide about this step; True when they did, whatever they found. Raises StoppedByTracer on every rank when one has an incident."""
        council, scene = self.council, self.scene
        decision = council.decide(bad) if council is not None else None
        if council is None or scene is None or decision is None:
            return False
        with council.session(scene, self.state_bytes, decision):
            opened = decision.mine and self.attempt(council.taken() or alarm())
        if council.refusal:
            self.output.note("whole", council.refusal)
        if not council.any(opened, decision):
            return True
        if not opened:
            self.keeper.stopped_with_others(self.recorder)
        raise self.stopped

    def look_into(self, alarm: Alarm) -> bool:
        """True when it was an incident."""
        scene, recorder = self.scene, self.recorder
        assert scene is not None
        assert recorder is not None
        begin = perf_counter()
        with recorder.paused(), self.council.alone(scene) if self.council is not None else contextlib.nullcontext(scene) as scene:
            self.output.open()
            result = investigate(alarm, scene, self.capsule_bytes)
            if result.normal:
                self.normal(alarm, scene)
                return False
            recorder.quiet_until_healthy = True
            found = result.birth is not None or result.replay.mechanism == "tape"
            if self.stops and not found and self.reyield is not None and self.reyield.arm(alarm, result):
                self.waited = 0 if alarm.symptom == "nan_loss" else 1  # a bad gradient is seen inside its own step
                return False
            self.conclude(alarm, result, scene, begin)
        return True

    def look_again(self, seen: Alarm | None) -> bool:
        """The extra iteration of a re-yield has shown the fault, or is over (None)."""
        reyield, scene, recorder = self.reyield, self.scene, self.recorder
        if reyield is None or scene is None or recorder is None or not reyield.held:
            return False
        with recorder.paused():
            alarm, result = reyield.finish(seen)
            self.conclude(alarm, result, scene, perf_counter())
        return True

    def next_fetch(self) -> None:
        """The loop asks for a batch: the first time it gets the bad one again; when it comes back without an alarm the case is closed."""
        reyield, recorder = self.reyield, self.recorder
        if reyield is None or recorder is None or not reyield.held:
            return
        if reyield.tracer is None:
            recorder.quiet_until_healthy = False
        else:
            self.close_waiting()

    def again(self, iterator: Any) -> tuple[Any] | None:
        """The bad batch once more for its own iterator; another one shows that the loop will not ask for it again, and the case is closed."""
        if self.reyield is None or not self.reyield.held:
            return None
        data = self.reyield.again(iterator)
        if data is None:
            self.close_waiting()
        return data

    def skip_step(self) -> bool:
        """A step begins while a bad one waits: its own, or the next one of a loop that fetches no batch in between."""
        if self.reyield is None or not self.reyield.held or self.reyield.tracer is not None:
            return False
        self.waited += 1
        if self.waited > 1:
            self.close_waiting()
        return True

    def skip_write(self) -> bool:
        """The canary of a step was decided: a step that now waits is not written; an extra iteration that came here raised no alarm."""
        if self.reyield is None or not self.reyield.held:
            return False
        if self.reyield.tracer is not None:
            self.close_waiting()
        return True

    def close_waiting(self) -> None:
        """Report from what there is and stop: a run must never go on without its updates."""
        if self.look_again(None) and self.stops:
            raise self.stopped

    def conclude(self, alarm: Alarm, result: Result, scene: Scene, begin: float) -> None:
        """Facts, verdict, everything saved and shown."""
        self.count += 1
        told = self.at_incident()
        recent: dict[str, list[Number]] = {k: [number(v) for v in values] for k, values in self.recent.items()}
        facts = gather(alarm, result, scene, built=self.built, recent=recent, rank=self.output.rank, world_size=self.output.world_size, told=told)
        verdict = prove(facts, alarm, scene, result, list(self.built), self.state_bytes, self.budget)
        verdict = began(facts, verdict, self.found)
        verdict = self.remembered(facts, msgspec.structs.replace(verdict, seconds=round(perf_counter() - begin, 3)))
        self.keeper.save(result, facts, verdict, self.recent, self.count)

    def remembered(self, facts: IncidentFacts, verdict: Verdict) -> Verdict:
        """What the team's library knows of this fault."""
        run = self.output.folder
        if run is None:
            return verdict
        try:
            return msgspec.structs.replace(verdict, known=seen_before(facts, verdict, library_of(run, self.library), run.name) or "")
        except Exception as error:
            swallow("diagnosis.library", error)
            return verdict

    def normal(self, alarm: Alarm, scene: Scene) -> None:
        """An infinity on purpose, a scale search: remembered, not reported."""
        known = scene.roots.get(alarm.module) if alarm.module is not None else None
        if known is not None:
            known.deliberate_inf = True
