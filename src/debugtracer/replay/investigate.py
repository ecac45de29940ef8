"""Investigates an alarm: replays the step unchanged, then traced, until the birth is known or every mechanism has
refused."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import msgspec
import torch
from torch import Tensor

from debugtracer.errors import ReplayRefused
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.capsule.program import Program
from debugtracer.recorder.run_state import several_ranks
from debugtracer.recorder.tape.entry import Entry, Slot, tensors
from debugtracer.replay.anomaly import torch_says
from debugtracer.replay.graph_leaves import names_in
from debugtracer.replay.guilty import Values, by_hand, guilty_batch
from debugtracer.replay.held_values import by_held_values
from debugtracer.replay.investigation import Investigation
from debugtracer.replay.op_trace.birth import deliberate, find_birth
from debugtracer.replay.op_trace.op_table import OpTableRecorder
from debugtracer.replay.op_trace.op_tracer import OpListener, OpTracer
from debugtracer.replay.op_trace.op_tracker import OpTracker
from debugtracer.replay.parity import Parity, judge
from debugtracer.replay.reexecute import Reexecution, scale_one
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.replay.replay_plan import ReplayPlan, make_plan, refuse_collectives, updated
from debugtracer.replay.rewind import ReplayedState, as_compiled, eager, hushed
from debugtracer.replay.step_start import StepStart, step_start
from debugtracer.replay.targets import Target, find_targets, label_inputs, name_roots
from debugtracer.replay.traced_backward import trace_backward
from debugtracer.trace.birth import Frame
from debugtracer.trace.incident import Mechanism, ReplayFacts


def investigate(alarm: Alarm, context: ReplayContext, program_bytes: int) -> Investigation:
    """Try in order: tape in place, forward-only, the lines of the function in flight, the graph of the loss, the record
    alone. The world is as before when it returns.

    (docs/rationale/replay.md#fallbacks)"""
    begin = perf_counter()
    result = executed_again(alarm, context, program_bytes)
    silent = result.birth is None and not result.normal and not result.replay.reproduced
    if silent and alarm.symptom in {"nan_loss", "inf_grad"}:
        with context.paused(), eager(), hushed():
            by_held_values(alarm, result, begin, names_in(context.roots))
    return result


def executed_again(alarm: Alarm, context: ReplayContext, program_bytes: int) -> Investigation:
    """What executing the step again shows, by the first mechanism that can."""
    begin = perf_counter()
    refused: list[str] = []
    with context.paused():
        context.batches.adopt(leaf.tensor for leaf in [*alarm.segment.leaves.values(), *alarm.segment.constants])
    for mechanism, attempt in MECHANISMS:
        try:
            with context.paused(), eager():
                result = attempt(alarm, context, program_bytes)
        except ReplayRefused as error:
            refused.append(f"{mechanism}: {error}")
            continue
        facts = ReplayFacts(
            mechanism=mechanism,
            reproduced=result.replay.reproduced,
            parity=result.replay.parity,
            alarm_to_verdict_s=perf_counter() - begin,
            traced_slowdown=result.replay.traced_slowdown,
            refused=tuple(refused),
            compiled_only=result.replay.compiled_only,
            compiled_at=result.replay.compiled_at,
            anomaly=result.replay.anomaly,
            steps_back=result.replay.steps_back,
        )
        result.replay = facts
        return result
    last: Mechanism = "flight-record"
    return Investigation(
        ReplayFacts(
            mechanism=last,
            reproduced=False,
            parity=f"not replayed: {refused[0].partition(': ')[2] if refused else 'nothing recorded'}",
            alarm_to_verdict_s=perf_counter() - begin,
            refused=tuple(refused),
        )
    )


def by_tape(alarm: Alarm, context: ReplayContext, program_bytes: int) -> Investigation:
    """The whole step from its tape."""
    start = step_start(alarm, context)
    copies = start.copies
    if context.whole and (copies or any(e.kind == "step" for e in alarm.segment.entries)):
        raise ReplayRefused("an update of sharded weights cannot be executed again")
    older = list(context.copies.held.values())
    plan = make_plan(alarm.segment, alarm.previous, bool(older))
    if len(plan.segments) > 1 and alarm.previous is not None and updated(alarm.previous, plan.segments[0]):
        copies = older
    return perform(
        alarm, context, plan, StepStart(copies, start.steps_back if copies is start.copies else 0), program_bytes
    )


def forward_only(alarm: Alarm, context: ReplayContext, program_bytes: int) -> Investigation:
    """Replay only the root-module calls whose inputs are at hand; finds births inside modules."""
    if alarm.symptom not in {"nan_loss", "nan_output"}:
        raise ReplayRefused(alarm.late or "a bad gradient or update cannot be told from the forward alone")
    start = step_start(alarm, context)
    segment = alarm.segment
    if several_ranks():
        refuse_collectives(segment)
    part = type(segment)(segment.number)
    for entry in segment.entries:
        if entry.kind == "module" and not any(isinstance(r, Slot) or r.moved for r in entry.references()):
            part.entries.append(entry)
    if not part.entries:
        raise ReplayRefused("no module call of the step has all its inputs at hand")
    return perform(alarm, context, ReplayPlan([part]), start, 0)


def perform(
    alarm: Alarm, context: ReplayContext, plan: ReplayPlan, start: StepStart, program_bytes: int
) -> Investigation:
    """Run unchanged, then traced; restore everything in any case."""
    result = performed(alarm, context, plan, start.copies, program_bytes)
    result.replay = msgspec.structs.replace(result.replay, steps_back=start.steps_back)
    if start.steps_back and not result.replay.reproduced:  # says nothing of the step itself
        raise ReplayRefused(f"the fault did not come{result.replay.older_weights}, and those of the step are gone")
    return result


def performed(
    alarm: Alarm, context: ReplayContext, plan: ReplayPlan, copies: list[Any], program_bytes: int
) -> Investigation:
    """The same, with what the result says of itself alone."""
    held = touched(alarm, context)
    states = [s for segment in plan.segments[:1] for s in context.states.get(segment.number, [])]
    states += [
        s
        for segment in plan.segments[1:]
        for s in context.states.get(segment.number, [])
        if all(s.root is not o.root for o in states)
    ]
    world = ReplayedState(held, states, plan.written, copies, plan.entries)
    scaler = alarm.scaler if alarm.at_scale_one else None
    try:
        with hushed(), scale_one(scaler):
            world.rewind()
            begin = perf_counter()
            run = Reexecution(plan, context.backward)
            run.run()
            plain_s = perf_counter() - begin
            parity = judge(alarm, run, find_targets(alarm, run, context), world)
            if alarm.at_scale_one and not parity.reproduced:
                return Investigation(
                    ReplayFacts(mechanism="tape", reproduced=False, parity="finite at loss scale 1"), normal=True
                )
            del run
            if not parity.reproduced and (place := compiled_at(plan, context)) is not None:
                again = compiled(alarm, context, plan, world)
                if again.reproduced:
                    return Investigation(
                        ReplayFacts(
                            mechanism="tape",
                            reproduced=True,
                            parity=again.phrase,
                            compiled_only=True,
                            compiled_at=place,
                        )
                    )
            world.rewind()
            result = traced(alarm, context, plan, parity, plain_s, program_bytes)
            if result.birth is not None and result.birth.direction == "backward":
                world.rewind()
                result.replay = msgspec.structs.replace(result.replay, anomaly=torch_says(plan, context.backward))
            return result
    finally:
        world.restore()


def compiled_at(plan: ReplayPlan, context: ReplayContext) -> Frame | None:
    """Where what this step calls was compiled; None when nothing was."""
    found = next(
        (context.compiled[e.function] for e in plan.entries if callable(e.function) and e.function in context.compiled),
        None,
    )
    frames = context.frames(found) if found is not None else ()
    return frames[0] if frames else None


def compiled(alarm: Alarm, context: ReplayContext, plan: ReplayPlan, world: ReplayedState) -> Parity:
    """The step once more with its compiled code, as the live step ran."""
    world.rewind()
    run = Reexecution(plan, context.backward)
    with as_compiled():
        run.run()
    return judge(alarm, run, find_targets(alarm, run, context), world)


def touched(alarm: Alarm, context: ReplayContext) -> list[Tensor]:
    """The parameters whose gradients a replay may write: of all roots and the optimizer, and leaves that require
    grad."""
    found: list[Tensor] = [p for module in list(context.roots.known) for p in module.parameters()]
    if alarm.optimizer is not None:
        found += context.parameters(alarm.optimizer)
    found += alarm.trained
    for segment in (alarm.segment, alarm.previous):
        found += (
            [leaf.tensor for leaf in segment.leaves.values() if leaf.tensor.requires_grad and leaf.tensor.is_leaf]
            if segment is not None
            else []
        )
    return found


def traced(
    alarm: Alarm, context: ReplayContext, plan: ReplayPlan, parity: Parity, plain_s: float, program_bytes: int
) -> Investigation:
    """The same step under the op tracer."""
    tracker = OpTracker()
    program = Program(max_bytes=program_bytes) if program_bytes else None
    ops = OpTableRecorder(tracker)  # first: it asks who wrote what an op reads before the tracker notes what it wrote
    observers: list[OpListener] = [ops, tracker]
    tracer = OpTracer(observers=[*observers, *([program] if program is not None else [])])
    name_roots(tracer, context.roots)
    label_inputs(tracer, program, plan, context, alarm.previous)

    @contextlib.contextmanager
    def around(entry: Entry) -> Iterator[None]:
        with tracer.entry(
            entry.index, context.frames(entry.frames), direction="update" if entry.kind == "step" else None
        ):
            yield

    begin = perf_counter()
    run = Reexecution(plan, context.backward, around)
    with tracer:
        run.run()
    slowdown = (perf_counter() - begin) / max(plain_s, 1e-9)
    targets = find_targets(alarm, run, context)
    result = Investigation(
        ReplayFacts(mechanism="tape", reproduced=parity.reproduced, parity=parity.phrase, traced_slowdown=slowdown),
        program=program,
        ops=ops,
    )
    blame(alarm, context, plan, tracker, targets, result, run.values)
    if program is not None:
        for target in targets:
            program.target(target.name, target.tensor)
    with OpTracer(observers, tracer.whereabouts):  # the verdict stands: what follows is for the op table alone
        trace_backward(alarm, run, touched(alarm, context))
    return result


def blame(
    alarm: Alarm,
    context: ReplayContext,
    plan: ReplayPlan,
    tracker: OpTracker,
    targets: list[Target],
    result: Investigation,
    values: Values,
) -> None:
    """Find the birth, then the microbatch and batch it belongs to."""
    bad = [
        t
        for t in targets
        if any(
            not bool(torch.isfinite(x).all())
            for x in tensors(t.tensor)
            if x.is_floating_point() and x.layout is torch.strided
        )
    ]
    result.bad_names = [t.name.partition(" ")[2] for t in bad if " " in t.name]
    guilty = guilty_batch(alarm, plan, context.batches, None, values)
    birth = find_birth(tracker, targets=[(t.name, t.tensor) for t in targets], batch_rows=guilty.rows)
    if birth is not None and birth.entry is not None:
        closer = guilty_batch(alarm, plan, context.batches, birth.entry, values)
        if closer.rows != guilty.rows:
            birth = find_birth(tracker, targets=[(t.name, t.tensor) for t in targets], batch_rows=closer.rows)
        guilty = closer
    if birth is not None and by_hand(alarm, birth.entry):
        birth = msgspec.structs.replace(birth, rows=None)
    result.birth, result.guilty = birth, guilty
    if alarm.symptom == "nan_output" and (birth is None or deliberate(tracker, [(t.name, t.tensor) for t in targets])):
        result.normal = not any(torch.isnan(x).any() for t in bad for x in tensors(t.tensor))


MECHANISMS: tuple[tuple[Mechanism, Callable[[Alarm, ReplayContext, int], Investigation]], ...] = (
    ("tape", by_tape),
    ("forward-only", forward_only),
)
