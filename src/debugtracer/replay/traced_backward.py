"""The backward that a bad loss never had: the live step was held before it, the traced replay lets its operators run,
so that the op table shows where the bad value goes on to."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import torch
from torch import Tensor

from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.run_state import several_ranks
from debugtracer.replay.reexecute import Reexecution
from debugtracer.replay.stall import Stalled, broken_off


def trace_backward(alarm: Alarm, run: Reexecution, inputs: Iterable[Tensor]) -> bool:
    """Whether the bad loss of a replay was differentiated by `inputs`, for the tracer that is open; False where it has
    no backward to show: its own has run, several ranks would have to run it together, or it fails.

    Gradients are asked for, not accumulated: no `.grad` is written, and no hook that waits for one is called."""
    slot = alarm.slot
    if alarm.symptom != "nan_loss" or slot is None or several_ranks():
        return False
    made = run.values.get((slot.segment, slot.entry), [])
    loss = made[slot.output] if slot.output < len(made) else None
    if loss is None or loss.grad_fn is None or any(loss is begun for begun in run.losses.values()):
        return False
    trained = list({id(t): t for t in inputs if t.requires_grad}.values())
    if not trained:
        return False
    with suppress(Exception, Stalled), broken_off(), torch.enable_grad():
        torch.autograd.grad(loss, trained, torch.ones_like(loss), retain_graph=run.reaches_live, allow_unused=True)
        return True
    return False
