"""The update of a failing step: who will step, and the state of before it, which the replay starts from."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from torch.optim import Optimizer

from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.run_state import several_ranks
from debugtracer.recorder.state.copies import UpdateCopy
from debugtracer.recorder.state.step_history import Snapshot
from debugtracer.recorder.tape.entry import Entry
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.replay.replay_plan import ReplayPlan, make_plan, updated
from debugtracer.replay.step_start import step_start


class StepUpdate:
    """What is planned and copied before the first trial. Made while the recorder is paused; raises ReplayRefused."""

    def __init__(self, alarm: Alarm, context: ReplayContext, state_bytes: int, built: Sequence[Optimizer]) -> None:
        copies = list(step_start(alarm, context).copies)
        older = list(context.copies.held.values())
        self.plan = make_plan(alarm.segment, alarm.previous, bool(older))
        if (
            len(self.plan.segments) > 1
            and alarm.previous is not None
            and updated(alarm.previous, self.plan.segments[0])
        ):
            copies = older
        self.optimizers, self.tail = update_of_step(alarm, context, built)
        """Those that step, and the calls between backward and update."""
        if not copies:
            present = copies_of(self.optimizers, context, state_bytes)
            self.optimizers, copies = (self.optimizers, present) if present is not None else ([], [])
        self.snapshots = older_states(self.plan, context, copies)
        """States of the weights from before the step, newest first."""
        self.copies = copies
        """The state that is put back before each trial."""


def update_of_step(
    alarm: Alarm, context: ReplayContext, built: Sequence[Optimizer]
) -> tuple[list[Optimizer], list[Entry]]:
    """The optimizers that will step after this one, and the calls between backward and update, as the last step made
    them."""
    if alarm.symptom in ("nan_output", "bad_update"):
        return [], []
    last = alarm.previous.entries if alarm.previous is not None else []
    steps = [e for e in last if e.kind == "step"]
    optimizers: list[Optimizer] = [alarm.optimizer] if alarm.optimizer is not None else [e.args[0] for e in steps]
    optimizers = optimizers or list(built)
    if context.whole:
        return [], []
    if several_ranks() and any(not type(o).__module__.startswith("torch.optim") for o in optimizers):
        return [], []
    if any(needs_closure(o) for o in optimizers):
        return [], []
    after = max(alarm.previous.backwards, default=0) if alarm.previous is not None else 0
    tail = (
        [e for e in last if e.index > after and e.kind == "clip" and not any(True for _ in e.references())]
        if alarm.symptom == "nan_loss"
        else []
    )
    return optimizers, tail


def copies_of(optimizers: Sequence[Optimizer], context: ReplayContext, state_bytes: int) -> list[UpdateCopy] | None:
    """The state of now, before the update, so that it can be replayed; None when it is too large."""
    copies = []
    for optimizer in optimizers:
        parameters = context.parameters(optimizer)
        if sum(p.nbytes for p in parameters) * 6 > state_bytes:
            return None
        copy = UpdateCopy(optimizer, parameters)
        copy.take()
        copies.append(copy)
    return copies


def older_states(plan: ReplayPlan, context: ReplayContext, copies: list[UpdateCopy]) -> list[Snapshot]:
    """Return the snapshots of the ring from before this step, newest first; what they would overwrite joins `copies`,
    the state that is put back."""
    ring, number = context.ring, plan.segments[-1].number
    found = [s for s in reversed(ring.held) if s.number < number] if ring is not None and not context.whole else []
    for optimizer in [o for o in (c.optimizer() for s in found[:1] for c in s.copies) if o is not None]:
        if all(c.optimizer() is not optimizer for c in copies):
            copies.append(UpdateCopy(optimizer, context.parameters(optimizer)))
            copies[-1].take()
    return found


def needs_closure(optimizer: Optimizer) -> bool:
    """True when its step computes the loss itself (LBFGS), which trials cannot offer."""
    closure = inspect.signature(type(optimizer).step).parameters.get("closure")
    return closure is not None and closure.default is inspect.Parameter.empty
