"""Trials of a step: the failing one executed again, forward to update, with one thing changed; everything is
restored."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.interventions.rerun import Rerun
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.state.version_counters import kept_versions
from debugtracer.recorder.tape.entry import Entry
from debugtracer.replay.guilty import GuiltyBatch
from debugtracer.replay.investigate import touched
from debugtracer.replay.reexecute import Reexecution, scale_one
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.replay.rewind import ReplayedState, hushed
from debugtracer.replay.targets import loss_of, outputs_of, trained
from debugtracer.replay.trials.changed import ChangedExecution
from debugtracer.replay.trials.plain_samples import refetched
from debugtracer.replay.trials.score import FirstBad, Score, all_finite, norm
from debugtracer.replay.trials.step_update import StepUpdate
from debugtracer.replay.trials.trials import Trials, replaying
from debugtracer.trace.birth import Birth


class StepTrials(Trials):
    """The step of an alarm and its update. `compiled`: only the compiled code shows the fault: trials run it, but for
    the one that asks for eager code."""

    def __init__(
        self,
        alarm: Alarm,
        context: ReplayContext,
        guilty: GuiltyBatch | None,
        birth: Birth | None,
        state_bytes: int,
        built: Sequence[Optimizer],
        compiled: bool = False,
        grad_l2_usual: float | None = None,
    ) -> None:
        self.alarm, self.birth, self.compiled = alarm, birth, compiled
        with contextlib.ExitStack() as stack:
            stack.enter_context(replaying(context, compiled))
            update = StepUpdate(alarm, context, state_bytes, built)
            self.plan, self.updaters, self.tail, self.snapshots = (
                update.plan,
                update.optimizers,
                update.tail,
                update.snapshots,
            )
            self.holders = [alarm.optimizer] if context.whole and alarm.optimizer is not None else []
            states = [s for segment in self.plan.segments for s in context.states.get(segment.number, [])]
            world = ReplayedState(touched(alarm, context), states, self.plan.written, update.copies, self.plan.entries)
            stack.enter_context(kept_versions(written(world)))
            stack.callback(world.restore)
            stack.enter_context(hushed())
            stack.enter_context(scale_one(alarm.scaler if alarm.at_scale_one else None))
            rows = guilty.rows if guilty is not None else None
            super().__init__(context, world, stack, alarm.segment, alarm.previous, rows, grad_l2_usual)

    def rerun(self) -> Rerun:
        """The step as an intervention may change it."""
        alarm = self.alarm
        entries = self.plan.entries
        roots: list[nn.Module] = list({id(e.function): e.function for e in entries if e.kind == "module"}.values())
        optimizers = self.updaters or [e.args[0] for e in entries if e.kind == "step"]
        rerun = Rerun(
            alarm.symptom,
            entries,
            roots,
            optimizers,
            birth=self.birth,
            rows=self.rows,
            frames=self.context.frames,
            healthy=self.healthy,
        )
        rerun.guilty = self.birth.rows if self.birth is not None else None
        rerun.batch = [leaf for leaf in rerun.leaves() if self.is_batch(leaf)]
        rerun.history = max((self.plan.segments[-1].number - s.number for s in self.snapshots), default=0)
        rerun.compiled, rerun.scaler, rerun.grad_l2_usual = self.compiled, alarm.scaler, self.grad_l2_usual
        rerun.refetch = lambda: refetched(self.context.batches, rerun.batch)
        return rerun

    def perform(self, rerun: Rerun, score: Score) -> None:
        """Rewind, run, read the four scores."""
        self.world.rewind()
        if rerun.steps_back:
            back = [s for s in self.snapshots if self.plan.segments[-1].number - s.number >= rerun.steps_back]
            back[0].restore()
        watch = FirstBad()
        with contextlib.ExitStack() as stack:
            for context in rerun.throughout:
                stack.enter_context(context)
            run = ChangedExecution(self.plan, self.context.backward, rerun)
            # a dispatch mode would send compiled code back to the compiler
            with contextlib.nullcontext() if self.compiled else watch:
                run.run()
                loss = self.loss(run)
                score.loss = float(loss.detach().item()) if loss is not None and loss.numel() == 1 else None
                score.finite_output = self.output_finite(run, loss)
                score.bad_op = watch.op
            if not score.finite:
                return
            if self.alarm.symptom == "nan_loss" and loss is not None and not self.went_back(run):
                self.backward(run, loss)
            parameters = [p for o in rerun.optimizers or self.holders for p in self.context.parameters(o)]
            parameters = parameters or [tensor for _, tensor in trained(self.alarm, run, {})]
            gradients = [p.grad for p in parameters if p.grad is not None]
            if self.alarm.symptom != "nan_output" and gradients:
                score.grad_l2 = norm(gradients)
            if score.finite and self.updaters:
                self.update(rerun, gradients)
            if parameters:
                score.finite_update = all_finite(parameters)
            if score.finite and (self.updaters or self.alarm.symptom == "bad_update"):
                score.probe_loss = self.probed(rerun)
            score.bad_op = None if score.finite else score.bad_op

    def loss(self, run: Reexecution) -> Tensor | None:
        """The loss of the step in this run."""
        if self.alarm.symptom == "nan_loss":
            return loss_of(self.alarm, run)
        return list(run.losses.values())[-1] if run.losses else None

    def output_finite(self, run: Reexecution, loss: Tensor | None) -> bool | None:
        """Whether what stands for the symptom is finite, where it is not one number."""
        if self.alarm.symptom == "nan_output":
            return all_finite([t for t in outputs_of(self.alarm, run) if t.is_floating_point()])
        return all_finite([loss]) if loss is not None and loss.numel() != 1 else None

    def went_back(self, run: Reexecution) -> bool:
        """True for an alarm raised before the update: the backward of its loss is part of the recorded step."""
        number = self.plan.segments[-1].number
        return sum(segment == number for segment, _ in run.losses) > self.alarm.microbatch

    def backward(self, run: Reexecution, loss: Tensor) -> None:
        """Run the backward that the alarm prevented."""
        if loss.requires_grad and loss.numel() == 1:
            with run.around(Entry("backward", None, (), {}, ())):  # a checkpoint computes its forward again here
                self.context.backward([loss], retain_graph=run.reaches_live)
            for entry in self.tail:
                entry.function(*entry.args, **entry.kwargs)

    def update(self, rerun: Rerun, gradients: list[Tensor]) -> None:
        """Run the update of the step, with the changes of the trial."""
        for hook in rerun.on_gradients:
            hook(gradients)
        for optimizer in self.updaters:
            for change in rerun.on_update:
                change(optimizer)
            step: Callable[[Any], Any] = rerun.step_by or type(optimizer).step
            with torch.enable_grad() if optimizer.defaults.get("differentiable") else torch.no_grad():
                step(optimizer)


def written(world: ReplayedState) -> list[Tensor]:
    """What a trial writes and the world puts back: the user's backward of this step may still come (mode observe)."""
    return [*world.parameters, *(tensor for tensor, _ in (*world.buffers, *world.written))]
