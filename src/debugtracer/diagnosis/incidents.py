"""An alarm becomes an incident: replayed, judged, saved, shown, and in mode dev the run is stopped."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import msgspec
from torch.optim import Optimizer

from debugtracer.diagnosis.incident_writer import IncidentWriter, VerdictDisplay
from debugtracer.diagnosis.proof.trial_budget import TrialBudget
from debugtracer.diagnosis.rank_consensus import RankConsensus
from debugtracer.diagnosis.run_findings import RunFindings
from debugtracer.errors import swallow
from debugtracer.observers.dispatcher import ObserverDispatcher
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.listeners import AlarmListener, GateRanks, IncidentPolicy
from debugtracer.recorder.output.output import Output
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.tape.mode_stack import ModeStack
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.replay.reyield import ReYield
from debugtracer.trace.facts.clipping import ClipLimit
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.number import Number, number
from debugtracer.trace.verdict import Verdict

if TYPE_CHECKING:
    from debugtracer.replay.investigation import Investigation


@dataclass(frozen=True)
class IncidentOptions:
    """What the settings say of incidents."""

    stops: bool
    """Mode dev: the first incident stops the run."""
    most: int
    """Incidents opened per rank at most."""
    judges_on: bool
    """A response is chosen for a cause: a bad step beyond those is judged too, and neither saved nor shown."""
    capsule_bytes: int
    """Bytes of a capsule at most; 0: none is made."""
    preset: str
    """Options of the checks."""
    budget: TrialBudget
    state_bytes: int
    """Bytes of parameters and optimizer state that trials may copy."""
    library: Path | None
    """File of the team's own library of incidents and what cured them."""


class Incidents(AlarmListener, GateRanks, IncidentPolicy):
    """Opens incidents for one process. What raises here is swallowed, but for the stop."""

    def __init__(
        self,
        output: Output,
        state: RunState,
        stack: ModeStack,
        context: ReplayContext,
        observers: ObserverDispatcher,
        consensus: RankConsensus | None,
        reyield: ReYield | None,
        options: IncidentOptions,
    ) -> None:
        """Build the incidents; `reyield`, for a repeated batch, in mode dev only; `consensus` where ranks decide
        together."""
        self.output, self.state, self.stack = output, state, stack
        self.context, self.observers = context, observers
        self.consensus, self.reyield, self.options = consensus, reyield, options
        self.incident_writer = IncidentWriter(output, options.stops)
        self.findings = RunFindings(output, state, stack, context, options.budget, options.preset)
        self.count = 0
        self.waited = 0
        """Steps called since a bad one began to wait for its re-yield."""

    def show_on(self, display: VerdictDisplay) -> None:
        """Show verdicts, and raise the stop, as this display does."""
        self.incident_writer.show_on(display)

    @property
    def stopped(self) -> type[BaseException]:
        """What the stop is raised as; a notebook has its own."""
        return self.incident_writer.display.stopped

    def reset(self) -> None:
        """Reset to an empty state; called in a forked child."""
        self.findings.reset()
        self.count = 0

    def open(self, alarm: Alarm) -> None:
        """Look into an alarm. Raises StoppedByTracer in mode dev, nothing else."""
        if self.consensus is not None and self.consensus.holds(alarm):
            return
        if self.attempt(alarm) and self.options.stops:
            raise self.stopped

    def attempt(self, alarm: Alarm) -> bool:
        """True when an incident was opened; what fails in it is counted."""
        if self.full and not self.options.judges_on:
            return False
        again = self.reyield is not None and self.reyield.held
        with self.state.investigated():
            try:
                return self.look_again(alarm) if again else self.look_into(alarm)
            except Exception as error:
                swallow("diagnosis.incidents", error)
                return False

    @property
    def full(self) -> bool:
        """Whether as many incidents were saved as may be."""
        return self.count >= self.options.most

    def meets(self) -> bool:
        """True where all ranks come to each gate and agree there."""
        return self.consensus is not None and self.consensus.meets()

    def together(self, bad: bool, alarm: Callable[[], Alarm], is_open: bool = False) -> bool:
        """Decide with all ranks about this step, of which this one may have an incident open; True if done. Raises
        StoppedByTracer on every rank when one has an incident."""
        consensus, context = self.consensus, self.context
        decision = consensus.decide(bad, is_open) if consensus is not None else None
        if consensus is None or decision is None:
            return False
        with consensus.session(context, self.options.state_bytes, decision):
            opened = decision.mine and self.attempt(consensus.taken() or alarm())
        if consensus.refusal:
            self.output.note("whole", consensus.refusal)
        if not consensus.any(opened, decision) or not self.options.stops:
            return True
        if not opened:
            self.incident_writer.stopped_with_others(self.state)
        raise self.stopped

    def any_bad(self, bad: bool) -> bool | None:
        """Ask all ranks whether one of them has a bad step; None where they do not meet or not all have answered."""
        return self.consensus.any_bad(bad) if self.consensus is not None and self.meets() else None

    def look_alone(self) -> None:
        """Look into a bad loss of this rank that waited for the gate, where its gradient turned out good."""
        waiting = self.consensus.taken() if self.consensus is not None else None
        if waiting is not None:
            self.attempt(waiting)

    def look_into(self, alarm: Alarm) -> bool:
        """Investigate the alarm; True when it was an incident."""
        from debugtracer.replay.investigate import investigate

        begin = perf_counter()
        alone = (
            self.consensus.alone(self.context) if self.consensus is not None else contextlib.nullcontext(self.context)
        )
        with self.stack.paused(), alone as context:
            self.output.open()
            result = investigate(alarm, context, 0 if self.full else self.options.capsule_bytes)
            if result.normal:
                self.normal(alarm, context)
                return False
            self.state.quiet_until_healthy = True
            self.state.anomalies += 1
            found = result.is_final
            waits = not self.state.backward_ends_step  # nobody can hold an update that the loop writes itself
            if (
                self.options.stops
                and not found
                and waits
                and self.reyield is not None
                and self.reyield.arm(alarm, result)
            ):
                self.waited = 0 if alarm.symptom == "nan_loss" else 1  # a bad gradient is seen inside its own step
                return False
            self.conclude(alarm, result, context, begin)
        return True

    def look_again(self, seen: Alarm | None) -> bool:
        """Conclude an incident whose repeated iteration has shown the fault, or is over (None)."""
        reyield = self.reyield
        if reyield is None or not reyield.held:
            return False
        with self.stack.paused():
            alarm, result = reyield.finish(seen)
            self.conclude(alarm, result, self.context, perf_counter())
        return True

    def next_fetch(self) -> None:
        """Called when the loop asks for a batch: first it gets the bad one again, then, without an alarm, the case is
        closed."""
        reyield = self.reyield
        if reyield is None or not reyield.held:
            return
        if reyield.tracer is None:
            self.state.quiet_until_healthy = False
        else:
            self.close_waiting()

    def again(self, iterator: Any) -> tuple[Any] | None:
        """The bad batch once more for its own iterator; another one shows that the loop will not ask for it again, and
        the case is closed."""
        if self.reyield is None or not self.reyield.held:
            return None
        data = self.reyield.again(iterator)
        if data is None:
            self.close_waiting()
        return data

    def handed_out(self, iterator: Any, data: Any) -> None:
        """Keep the data of a fetch by reference until the next, so that the loop can get it again."""
        if self.reyield is not None:
            self.reyield.fetched(iterator, data)

    def give_up(self) -> None:
        """Stop waiting for a batch at once."""
        self.close_waiting()

    def skip_step(self) -> bool:
        """Whether to skip a step while a bad one waits: its own, or the next one of a loop that fetches no batch in
        between."""
        if self.reyield is None or not self.reyield.held or self.reyield.tracer is not None:
            return False
        self.waited += 1
        if self.waited > 1:
            self.close_waiting()
        return True

    def skip_write(self) -> bool:
        """Whether to skip the write of a step that waits; an extra iteration that came here raised no alarm."""
        if self.reyield is None or not self.reyield.held:
            return False
        if self.reyield.tracer is not None:
            self.close_waiting()
        return True

    def holds(self, optimizer: Optimizer, obstacle: str = "") -> bool:
        """Whether to leave a write out and go on: never, mode dev has stopped by then."""
        return False

    def wrote_bad_weights(self, optimizer: Optimizer) -> None:
        """Do nothing: mode dev has stopped by then."""

    def scaler_failed(self, optimizer: Optimizer, times: int) -> None:
        """Do nothing: mode dev has stopped by then."""

    def close_waiting(self) -> None:
        """Report from what there is and stop: a run must never go on without its updates."""
        if self.look_again(None) and self.options.stops:
            raise self.stopped

    def conclude(self, alarm: Alarm, result: Investigation, context: ReplayContext, begin: float) -> None:
        """Conclude an incident: facts, verdict, everything saved and shown."""
        from debugtracer.diagnosis import gather, guessed_line, onset  # here: a run without an incident needs none
        from debugtracer.diagnosis.proof import already_done, prove

        saved = not self.full
        recent: dict[str, list[Number]] = {k: [number(v) for v in values] for k, values in self.findings.recent.items()}
        facts = gather.gather(
            alarm,
            result,
            context,
            built=self.state.optimizers,
            recent=recent,
            rank=self.output.rank,
            world_size=self.output.world_size,
            told=self.observers.facts_of_incident(),
        )
        verdict = prove.prove(
            facts, alarm, context, result, list(self.state.optimizers), self.options.state_bytes, self.options.budget
        )
        verdict = onset.began(facts, guessed_line.as_guess(facts, verdict), self.findings.caught_up())
        verdict = already_done.without_done(verdict, self.findings.news.last(ClipLimit))
        verdict = self.remembered(facts, msgspec.structs.replace(verdict, seconds=round(perf_counter() - begin, 3)))
        self.state.verdict = verdict
        if saved:
            self.count += 1
            self.incident_writer.save(result, facts, verdict, self.findings.recent, self.count)

    def remembered(self, facts: IncidentFacts, verdict: Verdict) -> Verdict:
        """What the team's library knows of this fault."""
        from debugtracer.library import library

        if (run := self.output.folder) is None:
            return verdict
        try:
            known = library.seen_before(facts, verdict, library.library_of(run, self.options.library), run.name)
            return msgspec.structs.replace(verdict, known=known or "")
        except Exception as error:
            swallow("diagnosis.library", error)
            return verdict

    def normal(self, alarm: Alarm, context: ReplayContext) -> None:
        """Note a deliberate infinity or a scale search, so that it is not reported."""
        known = context.roots.get(alarm.module) if alarm.module is not None else None
        if known is not None:
            known.deliberate_inf = True
