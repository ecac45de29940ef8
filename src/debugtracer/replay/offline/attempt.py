"""One intervention tried on a capsule: the recorded step with one thing changed, and the scores that the live trials
give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from debugtracer.errors import CapsuleError, ReplayRefused
from debugtracer.interventions.intervention import Intervention
from debugtracer.interventions.offline_rerun import OfflineRerun
from debugtracer.interventions.update_rows import gradients, update_rows
from debugtracer.recorder.capsule.capsule import Capsule
from debugtracer.recorder.capsule.recorded import Recorded
from debugtracer.replay.offline.memory import ReplayMemory
from debugtracer.replay.offline.offline import OfflineResult, run_capsule
from debugtracer.replay.offline.rebirth import batch_rows
from debugtracer.replay.op_trace.birth import find_birth
from debugtracer.replay.op_trace.op_tracker import OpTracker
from debugtracer.replay.trials.score import Score, all_finite, norm
from debugtracer.trace.birth import Birth


@dataclass
class Attempt:
    """What came of it; the birth of what is still not finite."""

    score: Score
    birth: Birth | None = None


@dataclass
class AttemptNotes:
    """What no target holds and is gone when the run is over."""

    loss: float | None = None
    grad_l2: float | None = None
    between: dict[int, list[Callable[[Callable[[int], Tensor]], None]]] = field(default_factory=dict)


def attempt(capsule: Capsule, intervention: Intervention, *, dtype: str | None = None, device: str = "cpu") -> Attempt:
    """Run it. Never raises for what this capsule or machine cannot do: the score says why it was refused. Syncs the
    host."""
    tape = tape_of(capsule)
    try:
        change = intervention.offline(tape)
        noted = notes(tape)
        for number, looks in noted.between.items():
            tape.between.setdefault(number, []).extend(looks)
        tracker = OpTracker()
        result = run_capsule(
            capsule, observers=[tracker], dtype=tape.dtype or dtype, device=tape.device or device, changes=tape
        )
    except (ReplayRefused, CapsuleError) as error:
        return Attempt(Score(refused=str(error)))
    score = scored(result, noted)
    score.change, score.refused = change, next(filter(None, (doubt() for doubt in tape.doubts)), "")
    birth = None if score.finite else find_birth(tracker, targets=list(result.targets.items()), batch_rows=tape.rows)
    score.bad_op = birth.op if birth is not None else None
    return Attempt(score, birth)


def refusal(capsule: Capsule, intervention: Intervention) -> str:
    """Why an intervention cannot be tried on this capsule, empty when it can; nothing is executed."""
    try:
        intervention.offline(tape_of(capsule))
    except (ReplayRefused, CapsuleError) as error:
        return str(error)
    return ""


def tape_of(capsule: Capsule) -> OfflineRerun:
    """The step as an intervention may change it."""
    facts, memory = capsule.head.facts, ReplayMemory(capsule, None, torch.device("cpu"))
    inputs = tuple((label, ref) for label, ref in capsule.program.labels if memory.has_bytes(ref))
    tape = OfflineRerun(
        facts.symptom, capsule.program, lambda ref: memory.tensor(ref).clone(), inputs, facts.birth, batch_rows(capsule)
    )
    tape.guilty = facts.batch_rows or (facts.birth.rows if facts.birth else None)
    return tape


def notes(tape: OfflineRerun) -> AttemptNotes:
    """Note values between the ops: the loss where the backward begins, the gradients where the update does."""
    noted = AttemptNotes()
    start, update = backward_start(tape.program), update_rows(tape.program)
    if start is not None:
        number, ref = start

        def note_loss(read: Callable[[int], Tensor]) -> None:
            noted.loss = float(read(ref).item())

        noted.between.setdefault(number, []).append(note_loss)
    if update:
        held = gradients(tape.program)

        def note_gradients(read: Callable[[int], Tensor]) -> None:
            noted.grad_l2 = norm([read(ref) for ref in held]) if held else None

        noted.between.setdefault(update[0][0], []).append(note_gradients)
    return noted


def backward_start(program: Recorded) -> tuple[int, int] | None:
    """Find (number, ref) of the last op that makes the gradient of a loss of one value, and of that loss."""
    found = None
    for number, (row, then) in enumerate(zip(program.ops, program.ops[1:], strict=False)):
        ref = row.args[0].get("t") if row.args and isinstance(row.args[0], dict) else None
        made = (
            program.names[row.op].startswith("aten::ones_like.") and program.places[then.place].direction == "backward"
        )
        if made and isinstance(ref, int) and ref < len(program.refs) and not program.refs[ref].shape:
            found = number, ref
    return found


def scored(result: OfflineResult, noted: AttemptNotes) -> Score:
    """The scores, from the targets and what was noted on the way."""
    score = Score(loss=noted.loss, grad_l2=noted.grad_l2, seconds=result.seconds)
    kinds: dict[str, list[Tensor]] = {}
    for name, tensor in result.targets.items():
        kinds.setdefault(name.partition(" ")[0], []).append(tensor)
    loss = kinds.pop("loss", [])
    if loss and loss[0].numel() == 1:
        score.loss = float(loss[0].item())
    if "gradient" in kinds:
        score.grad_l2 = norm(kinds.pop("gradient"))
    if "parameter" in kinds:
        score.finite_update = all_finite(kinds.pop("parameter"))
    rest = [
        t for tensors in (*kinds.values(), loss if score.loss is None else []) for t in tensors if t.is_floating_point()
    ]
    score.finite_output = all_finite(rest) if rest else None
    return score
