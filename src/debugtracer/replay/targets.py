"""What the birth is searched for from: the bad loss, gradients, parameters or outputs of a replay; and the names of its
inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.capsule.program import Program
from debugtracer.recorder.state.roots import Roots, unwrapped
from debugtracer.recorder.tape.entry import Leaf, Slot
from debugtracer.recorder.tape.held_rows import HeldRows
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.replay.op_trace.op_tracer import OpTracer
from debugtracer.replay.reexecute import Reexecution
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.replay.replay_plan import ReplayPlan


@dataclass
class Target:
    """A named tensor of a replay: `loss`, `gradient fc.weight`, `parameter fc.weight`, `output`."""

    name: str
    tensor: Tensor


def find_targets(alarm: Alarm, run: Reexecution, context: ReplayContext) -> list[Target]:
    """The tensors in which the symptom shows, in a finished run."""
    if alarm.symptom == "nan_loss":
        return [Target("loss", t) for t in (loss_of(alarm, run),) if t is not None]
    if alarm.symptom == "nan_output":
        return [Target("output", t) for t in outputs_of(alarm, run) if t.is_floating_point()]
    names = context.roots.named_parameters()
    if alarm.optimizer is None:
        return [Target(f"gradient {n}", t.grad) for n, t in trained(alarm, run, names) if t.grad is not None]
    parameters = context.parameters(alarm.optimizer)
    labels = [names.get(id(p), f"parameter {n}") for n, p in enumerate(parameters)]
    if alarm.symptom == "bad_update":
        return [Target(f"parameter {n}", p) for n, p in zip(labels, parameters, strict=True)]
    return [Target(f"gradient {n}", p.grad) for n, p in zip(labels, parameters, strict=True) if p.grad is not None]


def trained(alarm: Alarm, run: Reexecution, names: dict[int, str]) -> Iterator[tuple[str, Tensor]]:
    """Yield what a loop without an optimizer trains, by name: in place of a tensor that the step made, as a functional
    update does, the one that the replay made."""
    swapped = [pair for entry in alarm.segment.entries for pair in entry.swapped.items()]
    for number, tensor in enumerate(alarm.trained):
        made = alarm.segment.made.get(id(tensor))
        slot = made[1] if made is not None and made[0]() is tensor else None
        own = next((n for n, r in swapped if r is slot or (isinstance(r, Leaf) and r.tensor is tensor)), None)
        name = own or names.get(id(tensor), f"parameter {number}")
        again = run.values.get((slot.segment, slot.entry)) if slot is not None else None
        yield name, again[slot.output] if again is not None and slot is not None else tensor


def loss_of(alarm: Alarm, run: Reexecution) -> Tensor | None:
    """The loss of the replay that stands for the bad one; without its slot, the last floating output."""
    slot = alarm.slot
    if slot is not None and (slot.segment, slot.entry) in run.values:
        return run.values[slot.segment, slot.entry][slot.output]
    made = [t for values in run.values.values() for t in values if t.is_floating_point()]
    return made[-1] if made else None


def outputs_of(alarm: Alarm, run: Reexecution) -> list[Tensor]:
    """What the alarmed root gave in the replay."""
    entries = [e for e in run.plan.entries if e.kind == "module" and e.function is alarm.module]
    return run.values.get((entries[-1].segment, entries[-1].index), []) if entries else []


def name_roots(tracer: OpTracer, roots: Roots) -> None:
    """Name modules from every root with parameters; enclosing modules first, so that their longer paths win."""
    known = [(m, r) for m, r in list(roots.known.items()) if r.has_parameters]
    owners = {id(o): o for _, r in known if r.owner is not None and (o := r.owner()) is not None}
    for owner in owners.values():
        tracer.name_root(unwrapped(owner))
    for module, root in known:
        if root.owner is None or root.owner() is None:
            tracer.name_root(unwrapped(module))


def label_inputs(
    tracer: OpTracer, program: Program | None, plan: ReplayPlan, context: ReplayContext, previous: Segment | None = None
) -> None:
    """Name the tensors a step starts from: parameters, buffers, batch leaves."""

    def label(tensor: Tensor, name: str, part: HeldRows | None = None) -> None:
        tracer.label(tensor, name, part)
        if program is not None:
            program.name(tensor, name)

    for module, root in list(context.roots.known.items()):
        top: Any = (root.owner() if root.owner is not None else None) or module
        for kind, named in (("parameter", top.named_parameters()), ("buffer", top.named_buffers())):
            for name, tensor in named:
                label(tensor, f"{kind} {'.'.join(p for p in name.split('.') if p not in {'module', '_orig_mod'})}")
    for reference in (r for e in plan.entries for r in e.references() if isinstance(r, Leaf)):
        found = context.batches.find(reference.tensor)
        if found is not None:
            part = context.batches.held_rows(reference.tensor)
            label(reference.tensor, found[1], part)
            if reference.saved is not None:
                # what the replay reads: the user's own tensor was written to later
                label(reference.saved, found[1], part)
    for number, tensor in fresh_inputs(plan, previous):
        if not isinstance(tensor, torch.nn.Parameter) and bad_by_no_design(tensor):
            label(tensor, f"input {number} of the model")


def fresh_inputs(plan: ReplayPlan, previous: Segment | None) -> Iterator[tuple[int, Tensor]]:
    """Yield (place, tensor) of module inputs that this step alone has: data without a loader, not a mask or table that
    stays."""
    known = {id(leaf.tensor) for leaf in (previous.leaves.values() if previous is not None else ())}
    made = {(e.segment, e.index): e.args for e in plan.entries if e.kind == "const"}
    for entry in (e for e in plan.entries if e.kind == "module"):
        for number, reference in enumerate(entry.references()):
            constant = made.get((reference.segment, reference.entry)) if isinstance(reference, Slot) else None
            leaf = constant[reference.output] if constant is not None and isinstance(reference, Slot) else reference
            if (
                isinstance(leaf, Leaf)
                and leaf.origin is None
                and not leaf.foreign
                and id(leaf.tensor) not in known
                and not leaf.tensor.requires_grad
            ):
                yield number, leaf.saved if leaf.saved is not None else leaf.tensor


def bad_by_no_design(tensor: Tensor) -> bool:
    """True for NaN or +Inf; a tensor with -Inf alone is a mask. Syncs the host."""
    if tensor.layout is not torch.strided or not tensor.dtype.is_floating_point or tensor.dtype.itemsize < 2:
        return False
    return bool(torch.isnan(tensor).any()) or bool(torch.isposinf(tensor).any())
