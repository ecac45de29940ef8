"""A step that died of an exception about its values: executed again under the op tracer, up to where it raises again,
to see where the bad value that it met was born."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from time import perf_counter

import torch
from torch import Tensor

from debugtracer.callsites.crash_site import CrashSite, site_of
from debugtracer.errors import ReplayRefused
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.tape.entry import Entry
from debugtracer.replay.investigate import blame, touched
from debugtracer.replay.investigation import Investigation
from debugtracer.replay.op_trace.birth import deliberate
from debugtracer.replay.op_trace.op_table import OpTableRecorder
from debugtracer.replay.op_trace.op_tracer import OpTracer
from debugtracer.replay.op_trace.op_tracker import OpTracker
from debugtracer.replay.reexecute import Reexecution
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.replay.replay_plan import make_plan
from debugtracer.replay.rewind import ReplayedState, eager, hushed
from debugtracer.replay.targets import Target, label_inputs, name_roots
from debugtracer.trace.incident import ReplayFacts

SAYS = re.compile(r"\bnan\b|\binf\b|infinit|non-?finite|invalid values|converge|not positive|singular", re.IGNORECASE)
"""What torch and its distributions say of values that are not finite; others say the same words."""
ASKS = re.compile(r"isnan|isfinite|isinf")
"""What the program's own line asks before it raises."""


def about_values(error: BaseException, site: CrashSite) -> bool:
    """Whether an exception complains of values, and one that is not finite lies where it was raised: a wrong shape
    beside a mask of -inf is none."""
    asked = bool(site.frames) and bool(ASKS.search(site.frames[0].code))
    return (asked or bool(SAYS.search(str(error)))) and bool(spoiled(site))


def spoiled(site: CrashSite) -> dict[str, Tensor]:
    """The floating tensors with NaN or Inf among the locals of the innermost call. Syncs the host."""
    dense = {n: t for n, t in site.tensors.items() if t.is_floating_point() and t.layout is torch.strided}
    return {name: t for name, t in dense.items() if not bool(torch.isfinite(t.detach()).all())}


def investigate_raised(alarm: Alarm, context: ReplayContext, error: BaseException) -> Investigation | None:
    """Where the bad value that an exception met was born; None where it was none, or its infinities are meant. Raises
    ReplayRefused; the world is as before when it returns."""
    begin = perf_counter()
    with context.paused():
        context.batches.adopt(leaf.tensor for leaf in [*alarm.segment.leaves.values(), *alarm.segment.constants])
    plan = make_plan(alarm.segment, alarm.previous, copies_at_hand=False)
    states = context.states.get(alarm.segment.number, [])
    with context.paused(), eager(), hushed():
        world = ReplayedState(touched(alarm, context), states, plan.written, (), plan.entries)
        try:
            world.rewind()
            tracker = OpTracker()
            ops = OpTableRecorder(tracker)
            tracer = OpTracer(observers=[ops, tracker])
            name_roots(tracer, context.roots)
            label_inputs(tracer, None, plan, context, alarm.previous)

            @contextlib.contextmanager
            def around(entry: Entry) -> Iterator[None]:
                with tracer.entry(entry.index, context.frames(entry.frames)):
                    yield

            run = Reexecution(plan, context.backward, around)
            targets = met(alarm, run, tracer, error)
            facts = ReplayFacts(
                mechanism="forward-only",
                reproduced=bool(targets),
                parity="raised again" if targets else "not reproduced",
                alarm_to_verdict_s=perf_counter() - begin,
            )
            result = Investigation(facts, ops=ops)
            blame(alarm, context, plan, tracker, targets, result, run.values)
            meant = deliberate(tracker, [(t.name, t.tensor) for t in targets])
            return None if result.birth is None or (meant and result.birth.op is not None) else result
        finally:
            world.restore()


def met(alarm: Alarm, run: Reexecution, tracer: OpTracer, error: BaseException) -> list[Target]:
    """Execute the step again; the bad tensors where it raises the same again, else what it made in place of those of
    the live step. Raises ReplayRefused where it raises something else."""
    raised: BaseException | None = None
    with tracer:
        try:
            run.run()
        except ReplayRefused as refused:
            raised = refused.__cause__
            if type(raised) is not type(error):
                raise
    if raised is not None:
        return [Target(name, t) for name, t in spoiled(site_of(raised)).items()]
    found: list[Target] = []
    for name, tensor in spoiled(site_of(error)).items():
        made = alarm.segment.made.get(id(tensor))
        slot = made[1] if made is not None and made[0]() is tensor else None
        again = run.values.get((slot.segment, slot.entry)) if slot is not None else None
        if again is not None and slot is not None and slot.output < len(again):
            found.append(Target(name, again[slot.output]))
    return found
