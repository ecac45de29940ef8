"""What the checks say of a run: steps are kept as evidence and judged, findings are written down, the leading one
becomes a verdict."""

from __future__ import annotations

import math
import statistics
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from time import perf_counter
from time import time as wall_time

import msgspec

from debugtracer.checks.selection import select
from debugtracer.diagnosis.judging.live_checks import LiveChecks
from debugtracer.diagnosis.judging.pace import SHARE
from debugtracer.diagnosis.judging.standing_out import StandingOut
from debugtracer.diagnosis.loss_jumps import LossJumps
from debugtracer.diagnosis.proof.trial_budget import TrialBudget
from debugtracer.errors import ReplayRefused, guarded, swallow
from debugtracer.recorder.listeners import ClosedStep
from debugtracer.recorder.output.fact_deduplicator import FactDeduplicator
from debugtracer.recorder.output.output import Output
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.tape.mode_stack import ModeStack
from debugtracer.recorder.tape.subsets import whole_of
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.spikes.level import BLOCK
from debugtracer.trace.events import Diagnosed, Found, Judged
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.loss_comparison import LossComparison
from debugtracer.trace.finding import UNTRIED, Finding
from debugtracer.trace.step import StepLoss, StepRef
from debugtracer.trace.window import GRAD_L2, LOSS, LR

MOST_SAID = 8  # findings said on stderr while the run goes on; all of them are in the report (ours)
KEPT = 50  # last values of each series shown with an incident (ours)
KEPT_LOSSES = 600  # steps: as far as a roll-back goes, and what is usual before (ours)
step_loss: Callable[[tuple[int, float, float]], StepLoss] = partial(tuple.__new__, StepLoss)
"""Make a StepLoss of the values in a tuple; no function of Python's runs."""


class RunFindings:
    """One per process. Steps come from the training thread, findings from the thread of the checks."""

    def __init__(
        self,
        output: Output,
        state: RunState,
        stack: ModeStack,
        context: ReplayContext,
        budget: TrialBudget,
        preset: str,
    ) -> None:
        self.output, self.state, self.stack = output, state, stack
        self.context, self.budget = context, budget
        self.recent: dict[str, deque[float]] = {}
        """Last values of each series, for the evidence of an incident."""
        self.step_losses: deque[StepLoss] = deque(maxlen=KEPT_LOSSES)
        """Loss and learning rate of the last steps, for a roll-back."""
        self.said = 0
        """Lines on stderr about findings."""
        self.news = FactDeduplicator(output)
        self.batches = context.batches
        self.jumps = LossJumps(output, state, stack, context, budget, self.recent, self.compared, self.hand_over)
        self.untried: dict[int, Finding] = {}
        """Findings that wait for a trial of theirs before they are told, by their step."""
        self.found: list[Finding] = []
        """What the checks have said, in order; notes included."""
        self.unwritten: list[Found] = []
        """Findings of a run that has no files yet: they are opened at the first backward."""
        self.standing = StandingOut()
        self.live = LiveChecks(self.report, select(preset))

    def step_done(
        self, step: int, values: dict[str, float], facts: Sequence[Fact] = (), iteration: int | None = None
    ) -> None:
        """Keep the numbers and facts of a closed step as evidence, and hand them to the checks; `iteration` is that of
        the next backward when it closed, None: that of now."""
        self.jumps.seen(step, values)
        self.remember(values)
        self.step_losses.append(StepLoss(step, values.get(LOSS, math.nan), values.get(LR, math.nan)))
        stands_out = self.standing.seen(values, self.jumps.above > 0)
        facts = self.news.keep(facts)
        following = self.state.iteration if iteration is None else iteration
        ref = StepRef(iteration=max(following - 1, 0), step=step, rank=self.output.rank)
        self.live.step(ref, values, facts, stands_out)
        self.state.judged(self.live.judge_s + self.output.thread_s())

    def steps_done(self, steps: Sequence[ClosedStep]) -> None:
        """Keep and judge steps in a row with which no facts go; a further step follows them."""
        rows = [values for _, _, values in steps]
        losses = [values.get(LOSS) for values in rows]
        above = self.jumps.seen_all(zip([step for step, _, _ in steps], losses, strict=True))
        stand_out = self.standing.seen_all([values.get(GRAD_L2) for values in rows], above)
        self.step_losses += [
            step_loss((step, math.nan if loss is None else loss, values.get(LR, math.nan)))
            for (step, _, values), loss in zip(steps, losses, strict=True)
        ]
        self.live.hand_over(self.output.rank, steps, stand_out)
        self.remember_all(rows[-KEPT:])

    def finish(self, facts: Sequence[Fact] = (), interrupted: bool = False) -> None:
        """Judge what is still unjudged at the end of the run, and write down which checks were asked; no experiment
        where somebody waits for the end."""
        facts = self.news.keep(facts)
        if self.output.writer is None and not facts:
            return
        self.live.finish(facts)
        self.write_late()
        self.state.judged(self.live.judge_s + self.output.thread_s())
        self.jumps.look(over=True)  # the judge of a fast loop may end after the loop
        while self.untried:
            self.tell(self.untried.pop(next(iter(self.untried))))
        if not interrupted:
            self.experiment()
        self.lead()
        judge = self.live.judge
        judge_us = 1e6 * self.live.judge_s / max(self.live.steps, 1)
        if self.live.thinned:
            self.output.note(
                "judge-thinned",
                f"{self.live.thinned} of {self.live.given} steps were not judged: judging them would have taken more "
                f"than {SHARE:.0%} of the time",
            )
        self.output.event(
            Judged(
                at=wall_time(),
                rank=self.output.rank,
                asked=dict(judge.asked),
                fed=judge.fed(),
                short=judge.short(),
                unseen=judge.unseen(),
                near=judge.nearness(),
                judge_us=judge_us,
            )
        )

    def write_late(self) -> None:
        """Write what was found before there were files; a run without a backward has none but for what is grave."""
        if any(event.finding.severity != "note" for event in self.unwritten):
            self.output.open()
        for event in self.unwritten:
            self.output.event(event)
        self.unwritten.clear()

    def experiment(self) -> None:
        """Decide about the leading finding by some dozen steps of training, where nothing else has."""
        if not (self.budget.trials and self.found) or any(v.trials for v in self.jumps.verdicts):
            return
        from debugtracer.diagnosis.training_experiment import TrainingExperiment  # all causes come with it

        experiment = TrainingExperiment(self.found, self.budget.seconds)
        if not experiment.suspects:
            return
        finding, past = experiment.suspects[0][0], self.context.ring.longest()
        begin = perf_counter()
        try:
            if past is None:
                raise ReplayRefused("no steps are kept")
            with self.state.investigated(), self.stack.paused():
                verdict = experiment.decide(past, self.context, self.jumps.usual_step_s)
        except ReplayRefused as error:
            self.output.note("no-trials", f"training with {finding.kind} taken away cannot be tried: {error}")
        except Exception as error:
            swallow("diagnosis.training_experiment", error)
        else:
            self.jumps.told(finding, verdict, begin)

    def caught_up(self) -> list[Finding]:
        """What the checks have said of all steps so far; waits for the judge."""
        self.live.catch_up()
        return self.found

    def lead(self) -> None:
        """Write the verdict of the leading finding's cause last, so that a view meets it first."""
        from debugtracer.diagnosis.judging.leading_cause import heard

        try:
            told = heard(self.found, self.jumps.verdicts)
        except Exception as error:
            swallow("diagnosis.judging.leading_cause", error)
            return
        if told is not None:
            check, verdict = told
            at, trace_id = wall_time(), self.output.trace_id(verdict.iteration)
            self.output.event(
                Diagnosed(at=at, rank=verdict.rank, trace_id=trace_id, check=check, verdict=verdict), now=True
            )

    def report(self, finding: Finding) -> None:
        """Tell a finding of the judge, or keep it until what it waits for was tried. Called by the judge's thread."""
        if UNTRIED in finding.evidence:
            self.untried[finding.step] = finding
            self.jumps.found(finding)
        else:
            self.tell(finding)

    def compared(self, fact: LossComparison) -> None:
        """Hand over what a trial has shown; the check that waits for it decides then. Called by the training thread."""
        self.untried.pop(fact.ref.step, None)
        self.hand_over(fact)

    def hand_over(self, fact: Fact) -> None:
        """Hand a fact that became known between two steps to the checks. Called by the training thread."""
        facts = self.news.keep((fact,))
        if self.live.over:
            self.live.take(self.live.last, {}, facts)
        else:
            self.live.step(self.live.last, {}, facts)

    def loss_level(self) -> float:
        """The median of the last losses; infinite while there are too few, or one is not finite."""
        losses = list(self.recent.get(LOSS, ()))[-BLOCK:]
        known = len(losses) == BLOCK and all(map(math.isfinite, losses))
        return statistics.median(losses) if known else math.inf

    def tell(self, finding: Finding) -> None:
        """Write a finding without an alarm, and say it in one line when it is grave."""
        finding = guarded("diagnosis.run_findings: below a Subset")(self.in_whole)(finding) or finding
        at, trace_id = wall_time(), self.output.trace_id(finding.iteration)
        found = Found(at=at, rank=finding.rank, trace_id=trace_id, finding=finding, judged=True)
        if self.output.writer is None:
            self.unwritten.append(found)
        else:
            self.output.event(found, now=finding.severity != "note")
        self.found.append(finding)
        self.jumps.found(finding)
        self.state.anomalies += finding.severity != "note"
        if finding.severity != "note" and self.said < MOST_SAID:
            self.said += 1
            print(f"debug-tracer: {finding.severity}: {finding.message}", file=sys.stderr, flush=True)

    def in_whole(self, finding: Finding) -> Finding:
        """Say what its samples are in the dataset below the Subset that they are counted in."""
        samples = finding.place.sample_index
        whole = whole_of(self.batches, samples) if samples else None
        if whole is None or not samples:
            return finding
        return msgspec.structs.replace(
            finding,
            message=f"{finding.message} {whole.words(samples)}",
            place=msgspec.structs.replace(finding.place, whole_index=whole.indices or None),
        )

    def between_steps(self) -> None:
        """Called between two steps: a jump of the loss that waits is investigated."""
        self.jumps.look()

    def remember(self, values: dict[str, float]) -> None:
        """Remember the last values of the main series, for the evidence."""
        for name, value in values.items():
            if name not in self.recent:
                self.recent[name] = deque(maxlen=KEPT)
            self.recent[name].append(value)

    def remember_all(self, rows: Sequence[Mapping[str, float]]) -> None:
        """Remember the values of some steps in their order."""
        for name in dict.fromkeys(chain.from_iterable(rows)):
            self.recent.setdefault(name, deque(maxlen=KEPT)).extend([row[name] for row in rows if name in row])

    def reset(self) -> None:
        """Reset to an empty state; called in a forked child."""
        self.recent.clear()
        self.step_losses.clear()
        self.news.reset()
        self.live.reset()
        self.standing = StandingOut()
        self.jumps.reset()
        self.found.clear()
        self.untried.clear()
        self.said = 0
