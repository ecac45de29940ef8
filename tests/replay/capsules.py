"""Incidents recorded in this process: one step under the op tracer, its birth found, saved and loaded again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from debugtracer.recorder.capsule.capsule import Capsule, load_capsule, save_capsule
from debugtracer.recorder.capsule.program import Program
from debugtracer.replay.op_trace.birth import find_birth
from debugtracer.replay.op_trace.op_tracer import OpTracer
from debugtracer.replay.op_trace.op_tracker import OpTracker
from debugtracer.trace.incident import IncidentFacts, Symptom
from debugtracer.trace.number import number
from debugtracer.trace.step import StepRef


def incident(
    folder: Path,
    step: Callable[[], Tensor],
    inputs: dict[str, Tensor],
    update: torch.optim.Optimizer | None = None,
    rows: int | None = None,
) -> Capsule:
    """Forward, backward and, with `update`, the optimizer's step of a loss, as a capsule. Inputs by label: `batch[0]`,
    `parameter weight`."""
    ledger, program = OpTracker(), Program()
    tracer = OpTracer(observers=[ledger, program])
    for label, tensor in inputs.items():
        tracer.label(tensor, label)
        program.name(tensor, label)
    with tracer:
        loss = step()
        loss.backward()
        if update is not None:
            with tracer.entry(9, (), direction="update"):
                update.step()
    symptom: Symptom = "bad_update" if update is not None else "inf_grad" if bool(torch.isfinite(loss)) else "nan_loss"
    leaves = {label.partition(" ")[2] or label: t for label, t in inputs.items() if t.requires_grad}
    targets = [("loss", loss), *((f"gradient {n}", t.grad) for n, t in leaves.items() if t.grad is not None)]
    if update is not None:
        targets = [(f"parameter {n}", t.detach()) for n, t in leaves.items()]
    birth = find_birth(ledger, targets=targets, batch_rows=rows)
    for name, tensor in targets:
        program.target(name, tensor)
    facts = IncidentFacts(
        ref=StepRef(iteration=7, step=7), symptom=symptom, loss=number(float(loss.detach())), birth=birth
    )
    save_capsule(folder / "step", program, facts, None, {"batch_rows": rows})
    return load_capsule(folder / "step")
