"""Watches for loss jumps, keeps the steps before them, and runs trials when a check has reported one."""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from time import perf_counter
from time import time as wall_time
from typing import TYPE_CHECKING

import msgspec

from debugtracer.diagnosis.proof.stopwatch import plain_step_s
from debugtracer.diagnosis.proof.trial_budget import TrialBudget
from debugtracer.diagnosis.reported_jump import LEVEL, is_worth, level
from debugtracer.errors import ReplayRefused, StoppedByTracer, guarded, swallow
from debugtracer.observers.loss.loss_rows import LEAST, WIDTH
from debugtracer.recorder.output.output import Output
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.state.step_history import StepHistory
from debugtracer.recorder.tape.mode_stack import ModeStack
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.trace.events import Diagnosed
from debugtracer.trace.facts.loop_change import LoopChange
from debugtracer.trace.facts.loss_comparison import LossComparison
from debugtracer.trace.finding import UNTRIED, Finding
from debugtracer.trace.verdict import Verdict
from debugtracer.trace.window import GRAD_L2, LOSS, STEP_S

if TYPE_CHECKING:
    from debugtracer.replay.fetch.sample import Pipeline

CHECKS = (
    "optimizer/loss-spike",
    "optimizer/loss-divergence",
    "data/hard-samples",
    "data/outlier-sample",
    "data/label-noise-batch",
)
# above the largest of them by this share of their spread from the least to the largest, and of the largest (ours)
ABOVE = 0.25
FIX_STEPS = 12  # updates that a fix of the loop is tried on (ours: enough for a loss to fall)
FEWEST = 3  # runs without which trials prove nothing: as it was, healed, not healed (ours)
HOLD = 64  # steps for which the data set of a loss that stood out is kept (ours)
STAYS = 5  # losses in a row that stand out before the new level is learnt (ours)
# losses put to trials per run (ours): a program that jumps more often is unsteady, and each costs dozens of steps
MOST = 3
MOST_READ = 32  # losses that stood out whose tapes are read per run (ours): milliseconds each
MOST_COMPARED = 8  # losses whose weights are compared with earlier ones per run (ours): each costs a few steps


class LossJumps:
    """One per process. `seen` and `look` run in the training thread, `found` in the judge's. What trials need is
    imported by the first."""

    def __init__(
        self,
        output: Output,
        state: RunState,
        stack: ModeStack,
        context: ReplayContext,
        budget: TrialBudget,
        recent: Mapping[str, Iterable[float]],
        compared: Callable[[LossComparison], None],
        changed: Callable[[LoopChange], None],
    ) -> None:
        """Take `recent`, the last values of the main series, and who wants facts of trials and of what stood out."""
        self.output, self.state, self.stack = output, state, stack
        self.context, self.budget, self.series = context, budget, recent
        self.recent: deque[float] = deque(maxlen=WIDTH)
        self.tell_compared, self.comparisons = compared, 0
        self.tell_changed, self.changes = changed, 0
        self.to_read: int | None = None
        """A step whose tape is to be compared with those before as soon as its segment is closed."""
        self.waiting: deque[Finding] = deque(maxlen=8)
        self.stood_out: dict[int, tuple[float, float, list[float]]] = {}
        """Step -> (expected, value, the losses before it)."""
        self.done = 0
        self.to_fix: deque[Finding] = deque()
        """Broken invariants that a line of the loop cures, waiting for enough steps to try it on."""
        self.verdicts: list[Verdict] = []
        """What the trials have reached."""
        self.above = 0
        """Losses that stood out in a row: a level that stays is learnt."""
        self.to_pin: tuple[int, float] | None = None
        """A step whose past is to be kept as soon as its segment is closed, and how far its loss stood out, in spreads
        of those before."""
        self.pipeline: tuple[int, Pipeline | None] = (0, None)
        """That step, and what made its batch."""

    def reset(self) -> None:
        """Reset to an empty state; called in a forked child."""
        self.recent.clear()
        self.waiting.clear()
        self.to_fix.clear()
        self.stood_out.clear()
        self.verdicts.clear()
        self.done = self.above = self.comparisons = self.changes = 0
        self.to_pin, self.to_read, self.pipeline = None, None, (0, None)

    def seen(self, step: int, values: Mapping[str, float]) -> None:
        """Take the loss of a closed step: one that stands out is not learnt, and its past is kept."""
        self.seen_all(((step, values.get(LOSS)),))

    def seen_all(self, losses: Iterable[tuple[int, float | None]]) -> list[int]:
        """Take the losses of steps in their order; how many stood out in a row, up to each of them."""
        recent, rows = self.recent, []
        for step, loss in losses:
            if self.pipeline[1] is not None and step > self.pipeline[0] + HOLD:
                self.pipeline = (0, None)  # the program may have let its data set go
            if loss is not None and math.isfinite(loss):
                top = max(recent) if len(recent) >= LEAST else math.inf
                if loss <= top or not self.stands_out(step, loss, top):
                    self.above = 0
                    recent.append(loss)
            rows.append(self.above)
        return rows

    def stands_out(self, step: int, loss: float, top: float) -> bool:
        """Whether a loss above those before it, of which this is the largest, is to be kept and not learnt."""
        low = min(self.recent)
        if loss - top <= ABOVE * max(abs(top), top - low):
            return False
        self.stood_out[step] = (statistics.median(self.recent), loss, list(self.recent))
        while len(self.stood_out) > 16:
            del self.stood_out[next(iter(self.stood_out))]
        if self.above == 0 and self.done < MOST:
            self.to_pin = (step, (loss - top) / max(top - low, 1e-12))
        if self.changes < MOST_READ:
            self.to_read, self.changes = step, self.changes + 1
        self.above += 1
        return self.above < STAYS

    def found(self, finding: Finding) -> None:
        """Take a finding; one about the loss waits for trials."""
        if UNTRIED in finding.evidence:
            self.waiting.append(finding)
            return
        if finding.check in CHECKS and not finding.exact and is_worth(finding):
            self.waiting.append(finding)
        if finding.severity != "note":
            from debugtracer.interventions.one_line_fix import FIXES

            if finding.kind in FIXES:
                self.to_fix.append(finding)

    def look(self, over: bool = False) -> None:
        """Pin what stood out between two steps, and try what a check has reported. `over`: no further step will
        come."""
        ring = self.context.ring
        if self.to_fix:
            with self.state.investigated():
                self.fix(ring.longest(), FIX_STEPS if not over else 4)
        if self.to_pin is not None:
            ring.pin(*self.to_pin)
            self.pipeline = self.to_pin[0], pipeline_now(self.context)
            self.to_pin = None
        if self.to_read is not None:
            step, self.to_read = self.to_read, None
            self.read(step)
        while self.waiting:
            with self.state.investigated():
                self.look_into(self.waiting.popleft())

    def look_into(self, finding: Finding) -> None:
        """Try what may have made the loss jump, or leave its level."""
        if UNTRIED in finding.evidence:
            self.compare(finding)
            return
        ring, known = self.context.ring, self.stood_out.pop(finding.step, None)
        if self.done >= MOST or not self.budget.trials:
            return
        if known is not None:
            self.attempt(finding, ring.take_pinned(finding.step), *known)
        elif (
            finding.check == LEVEL and finding.severity != "note" and all(v.step != finding.step for v in self.verdicts)
        ):
            self.attempt(finding, ring.longest(), *level(finding, self.recent))

    @guarded("diagnosis.loss_jumps: read")
    def read(self, step: int) -> None:
        """Tell what the loop did in this step and in none before."""
        from debugtracer.diagnosis.loop_changes import loop_changes

        for fact in loop_changes(step, tuple(self.context.ring.tapes), self.context, self.output.rank):
            self.tell_changed(fact)

    @guarded("diagnosis.loss_jumps: compare")
    def compare(self, finding: Finding) -> None:
        """Try whether the weights of before do better on the batches of now, and give the answer to the check."""
        from debugtracer.diagnosis.compared_weights import BATCHES, compared

        seconds = 4 * BATCHES * self.usual_step_s
        if not self.budget.trials or self.state.quiet_until_healthy:
            return
        if self.comparisons >= MOST_COMPARED or seconds > self.budget.seconds:
            self.output.note("no-trials", f"step {finding.step}: no time is left to compare the weights with earlier")
            return
        self.comparisons += 1
        with self.stack.paused():
            fact = compared(finding, self.context.ring, self.context)
        self.tell_compared(fact)

    def fix(self, past: StepHistory | None, least: int) -> None:
        """Try the line that a broken invariant asks for, on the steps since the oldest snapshot."""
        if past is None or past.steps < least or not self.budget.trials:
            return
        from debugtracer.diagnosis.loop_fix import mended

        finding = self.to_fix.popleft()
        self.to_fix.clear()
        begin = perf_counter()
        try:
            with self.stack.paused():
                verdict = mended(finding, past, self.context)
        except ReplayRefused as error:
            self.output.note(
                "no-trials", f"the steps since step {past.snapshot.step} cannot be executed again: {error}"
            )
            return
        except Exception as error:
            swallow("diagnosis.loss_jumps", error)
            return
        self.told(finding, verdict, begin)

    def told(self, finding: Finding, verdict: Verdict | None, begin: float) -> None:
        """Write a verdict down."""
        if verdict is not None:
            verdict = msgspec.structs.replace(verdict, seconds=round(perf_counter() - begin, 3))
            self.verdicts.append(verdict)
            self.output.event(
                Diagnosed(
                    at=wall_time(),
                    rank=finding.rank,
                    trace_id=self.output.trace_id(verdict.iteration),
                    check=finding.check,
                    verdict=verdict,
                ),
                now=True,
            )

    @property
    def usual_step_s(self) -> float:
        """The time that a plain step took of late, in seconds."""
        return plain_step_s(self.series.get(STEP_S, ()), self.state.step_s)

    def too_long(self, past: StepHistory) -> str:
        """Why these steps are too many for the time that trials may take; empty when they are not."""
        steps, step_s, allowed_s = past.steps + 1, self.usual_step_s, self.budget.seconds
        if FEWEST * steps * step_s <= allowed_s:
            return ""
        return f"{steps} steps of {step_s:.2g} s executed {FEWEST} times take longer than trials_s ({allowed_s:g})"

    def attempt(
        self, finding: Finding, past: StepHistory | None, expected: float, value: float, recent: list[float]
    ) -> None:
        """Put one jump to trials."""
        if past is not None and (why := self.too_long(past)):
            self.output.note("no-trials", f"step {finding.step}: {why}")
            return
        if past is None or self.state.quiet_until_healthy:
            return
        from debugtracer.diagnosis.jump_trials import LossJump, diagnose

        self.done += 1
        norms = sorted(v for v in self.series.get(GRAD_L2, ()) if math.isfinite(v))
        begin = perf_counter()
        try:
            with self.stack.paused():
                verdict = diagnose(
                    LossJump(finding, past, expected, value, recent, self.pipeline[1]),
                    self.context,
                    self.budget,
                    norms[len(norms) // 2] if norms else None,
                    self.state.optimizers,
                )
        except ReplayRefused as error:
            self.output.note("no-trials", f"the steps before step {finding.step} cannot be executed again: {error}")
            return
        except StoppedByTracer:
            raise
        except Exception as error:
            swallow("diagnosis.loss_jumps", error)
            return
        self.told(finding, verdict, begin)


@guarded("diagnosis.loss_jumps: pipeline")
def pipeline_now(context: ReplayContext) -> Pipeline | None:
    """What made the batch that was fetched last: its loader may be gone when a check reports the jump."""
    from debugtracer.replay.fetch.sample import pipeline_of

    last = context.batches.last()
    try:
        return pipeline_of(last.loader) if last is not None else None
    except ReplayRefused:
        return None
