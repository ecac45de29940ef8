"""The bench: the failing step executed again, forward to update, with one thing changed at a time. The world is as before when it closes."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
from collections.abc import Callable
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.intervention import Intervention
from debugtracer.interventions.rerun import Rerun
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.copies import UpdateCopy
from debugtracer.recorder.entry import Entry, Leaf, Slot
from debugtracer.recorder.ring import Snapshot
from debugtracer.recorder.tape import Segment
from debugtracer.recorder.version_counters import kept_versions
from debugtracer.replay.changed import Changed
from debugtracer.replay.guilty import Guilty
from debugtracer.replay.investigate import touched
from debugtracer.replay.plain_samples import refetched
from debugtracer.replay.plan import Plan, make_plan, several_ranks, updated
from debugtracer.replay.reexecute import Reexecution, scale_one
from debugtracer.replay.rewind import World, eager, hushed
from debugtracer.replay.scene import Scene
from debugtracer.replay.score import FirstBad, Score, all_finite, norm
from debugtracer.replay.targets import loss_of, outputs_of
from debugtracer.trace.birth import Birth


class Bench:
    """Use as a context: entering saves the world, leaving restores it bit for bit. Raises ReplayRefused when the step cannot be executed again."""

    compiled = False
    """Only the compiled code shows the fault: trials run it, but for the one that asks for eager code."""

    def __init__(
        self, alarm: Alarm, scene: Scene, guilty: Guilty | None, birth: Birth | None, state_bytes: int, built: list[Optimizer], compiled: bool = False
    ) -> None:
        self.compiled = compiled
        self.alarm, self.scene, self.guilty, self.birth = alarm, scene, guilty, birth
        self.state_bytes, self.built = state_bytes, built
        self.stack = contextlib.ExitStack()
        self.grad_l2_usual: float | None = None

    def __enter__(self) -> Bench:
        self.stack.enter_context(self.scene.paused())
        self.stack.enter_context(contextlib.nullcontext() if self.compiled else eager())
        try:
            self.prepare()
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *error: Any) -> None:
        self.stack.close()

    def prepare(self) -> None:
        """Plan, update and world."""
        alarm, scene = self.alarm, self.scene
        if alarm.late:
            raise ReplayRefused(alarm.late)
        older = list(scene.copies.held.values())
        copies = [c for c in (scene.copies.get(alarm.optimizer),) if c is not None] if alarm.symptom == "bad_update" and alarm.optimizer is not None else []
        if alarm.symptom == "bad_update" and not copies:
            raise ReplayRefused("no copy of the parameters before the update")
        self.plan = make_plan(alarm.segment, alarm.previous, bool(older))
        if len(self.plan.segments) > 1 and alarm.previous is not None and updated(alarm.previous, self.plan.segments[0]):
            copies = older
        self.updaters, self.tail = self.update_of_step()
        self.holders = [alarm.optimizer] if scene.whole and alarm.optimizer is not None else []
        copies = copies or self.present()
        self.snapshots = self.older(copies)
        states = [s for segment in self.plan.segments for s in scene.states.get(segment.number, [])]
        self.world = World(touched(alarm, scene), states, self.plan.written, copies, self.plan.entries)
        self.stack.enter_context(kept_versions(written(self.world)))
        self.stack.callback(self.world.restore)
        self.stack.enter_context(hushed())
        self.stack.enter_context(scale_one(alarm.scaler if alarm.at_scale_one else None))
        self.probe = probe_of(alarm.previous)
        self.rows = self.guilty.rows if self.guilty is not None else None
        self.healthy = counterparts(alarm.segment, alarm.previous)

    def update_of_step(self) -> tuple[list[Optimizer], list[Entry]]:
        """The optimizers that will step after this one, and the calls between backward and update, as the last step made them."""
        alarm = self.alarm
        if alarm.symptom in ("nan_output", "bad_update"):
            return [], []
        last = alarm.previous.entries if alarm.previous is not None else []
        steps = [e for e in last if e.kind == "step"]
        optimizers: list[Optimizer] = [alarm.optimizer] if alarm.optimizer is not None else [e.args[0] for e in steps]
        optimizers = optimizers or self.built
        if self.scene.whole:
            return [], []
        if several_ranks() and any(not type(o).__module__.startswith("torch.optim") for o in optimizers):
            return [], []
        if any(needs_closure(o) for o in optimizers):
            return [], []
        after = max(alarm.previous.backwards, default=0) if alarm.previous is not None else 0
        tail = [e for e in last if e.index > after and e.kind == "clip" and not any(True for _ in e.references())] if alarm.symptom == "nan_loss" else []
        return optimizers, tail

    def present(self) -> list[UpdateCopy]:
        """The state before the update, so that it can be replayed; none when it is too large."""
        copies = []
        for optimizer in self.updaters:
            parameters = self.scene.parameters(optimizer)
            if sum(p.nbytes for p in parameters) * 6 > self.state_bytes:
                self.updaters = []
                return []
            copy = UpdateCopy(optimizer, parameters)
            copy.take()
            copies.append(copy)
        return copies

    def older(self, copies: list[UpdateCopy]) -> list[Snapshot]:
        """Snapshots of the ring from before this step, newest first; what they would overwrite joins the state that is put back."""
        ring, number = self.scene.ring, self.plan.segments[-1].number
        found = [s for s in reversed(ring.held) if s.number < number] if ring is not None and not self.scene.whole else []
        for optimizer in [o for o in (c.optimizer() for s in found[:1] for c in s.copies) if o is not None]:
            if all(c.optimizer() is not optimizer for c in copies):
                copies.append(UpdateCopy(optimizer, self.scene.parameters(optimizer)))
                copies[-1].take()
        return found

    def rerun(self) -> Rerun:
        """The step as an intervention may change it."""
        alarm = self.alarm
        entries = self.plan.entries
        roots: list[nn.Module] = list({id(e.function): e.function for e in entries if e.kind == "module"}.values())
        optimizers = self.updaters or [e.args[0] for e in entries if e.kind == "step"]
        rerun = Rerun(alarm.symptom, entries, roots, optimizers, birth=self.birth, rows=self.rows, frames=self.scene.frames, healthy=self.healthy)
        rerun.guilty = self.birth.rows if self.birth is not None else None
        rerun.batch = [leaf for leaf in rerun.leaves() if self.is_batch(leaf)]
        rerun.history = max((self.plan.segments[-1].number - s.number for s in self.snapshots), default=0)
        rerun.compiled, rerun.scaler, rerun.grad_l2_usual = self.compiled, alarm.scaler, self.grad_l2_usual
        rerun.refetch = lambda: refetched(self.scene.batches, rerun.batch)
        return rerun

    def is_batch(self, leaf: Leaf) -> bool:
        """A fetched tensor, or an input with one row for each sample."""
        tensor = leaf.tensor
        if isinstance(tensor, nn.Parameter) or tensor.requires_grad or not tensor.dim() or leaf.origin is not None:
            return False
        return self.rows is not None and tensor.shape[0] == self.rows

    def run(self, intervention: Intervention) -> Score:
        """One trial. Never raises what the step raises: a run that fails is refused with its error."""
        rerun, begin = self.rerun(), perf_counter()
        why = intervention.refuses(rerun)
        if why:
            return Score(refused=why)
        score = Score()
        try:
            score.change = intervention.apply(rerun)
            self.perform(rerun, score)
            score.change = rerun.described() or score.change
            score.voided = rerun.overwritten
            score.refused = next(filter(None, (doubt() for doubt in rerun.doubts)), "")
        except ReplayRefused as error:
            score = Score(refused=str(error.__cause__ if isinstance(error.__cause__, ReplayRefused) else error))
        except Exception as error:
            score = Score(refused=f"{type(error).__name__}: {str(error).splitlines()[0].split('. ')[0][:120] if str(error) else ''}")
        score.seconds = perf_counter() - begin
        return score

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
            run = Changed(self.plan, self.scene.backward, rerun)
            with contextlib.nullcontext() if self.compiled else watch:  # a dispatch mode would send compiled code back to the compiler
                run.run()
                loss = self.loss(run)
                score.loss = float(loss.detach().item()) if loss is not None and loss.numel() == 1 else None
                score.finite_output = self.output_finite(run, loss)
                score.bad_op = watch.op
            if not score.finite:
                return
            if self.alarm.symptom == "nan_loss" and loss is not None and not self.went_back(run):
                self.backward(run, loss)
            parameters = [p for o in rerun.optimizers or self.holders for p in self.scene.parameters(o)]
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
        """An alarm that waited for the gate: the backward of its loss is part of the recorded step."""
        number = self.plan.segments[-1].number
        return sum(segment == number for segment, _ in run.losses) > self.alarm.microbatch

    def backward(self, run: Reexecution, loss: Tensor) -> None:
        """The backward that the alarm did not let happen."""
        if loss.requires_grad and loss.numel() == 1:
            with run.around(Entry("backward", None, (), {}, ())):  # a checkpoint computes its forward again here
                self.scene.backward([loss])
            for entry in self.tail:
                entry.function(*entry.args, **entry.kwargs)

    def update(self, rerun: Rerun, gradients: list[Tensor]) -> None:
        """The update of the step."""
        for hook in rerun.on_gradients:
            hook(gradients)
        for optimizer in self.updaters:
            for change in rerun.on_update:
                change(optimizer)
            step: Callable[[Any], Any] = rerun.step_by or type(optimizer).step
            with torch.enable_grad() if optimizer.defaults.get("differentiable") else torch.no_grad():
                step(optimizer)

    def probed(self, rerun: Rerun) -> float | None:
        """The loss of the last healthy step, its batch and its random numbers, on the weights as they are now, with a change of the code still in force."""
        if self.probe is None:
            return None
        plan, slot = self.probe
        try:
            run = Changed(plan, self.scene.backward, dataclasses.replace(rerun, entries=plan.entries, inputs={}, seed=None))
            run.run()
            loss = run.values[slot.segment, slot.entry][slot.output]
        except (ReplayRefused, KeyError, IndexError):
            return None
        return float(loss.detach().item()) if loss.numel() == 1 else None


def needs_closure(optimizer: Optimizer) -> bool:
    """Its step computes the loss itself (LBFGS), which a bench cannot offer."""
    closure = inspect.signature(type(optimizer).step).parameters.get("closure")
    return closure is not None and closure.default is inspect.Parameter.empty


def written(world: World) -> list[Tensor]:
    """What a trial writes and the world puts back: the user's backward of this step may still come (mode observe)."""
    return [*world.parameters, *(tensor for tensor, _ in (*world.buffers, *world.written))]


def probe_of(previous: Segment | None) -> tuple[Plan, Slot] | None:
    """The forward of the last healthy step, up to its first loss; None where it cannot be executed again."""
    if previous is None or previous.refused or not previous.losses or not previous.backwards or previous.losses[0][1] is None:
        return None
    slot, part = previous.losses[0][1], Segment(previous.number)
    wanted = {slot.entry}
    for entry in reversed(previous.entries[: previous.backwards[0]]):
        if entry.index in wanted:
            part.entries.insert(0, entry)
            wanted.update(r.entry for r in entry.references() if isinstance(r, Slot))
    moved = any(r.moved or r.foreign or r.origin is not None for e in part.entries for r in e.references() if isinstance(r, Leaf))
    return None if moved or not part.entries else (Plan([part]), slot)


def counterparts(segment: Segment, previous: Segment | None) -> dict[int, Tensor]:
    """For each input of a step the one that stood in its place in the step before, where both were called alike."""
    found: dict[int, Tensor] = {}
    if previous is None:
        return found
    for entry, before in zip(segment.entries, previous.entries, strict=False):
        if entry.kind != before.kind or entry.function is not before.function:
            break
        for reference, other in zip(entry.references(), before.references(), strict=False):
            if isinstance(reference, Leaf) and isinstance(other, Leaf) and not other.moved and other.tensor is not reference.tensor:
                found.setdefault(id(reference), other.saved if other.saved is not None else other.tensor.detach())
    return found
