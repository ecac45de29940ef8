"""One step under the op tracer, as the tests of births want it."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from debugtracer.replay.op_trace.birth import find_birth
from debugtracer.replay.op_trace.op_tracer import OpTracer
from debugtracer.replay.op_trace.op_tracker import OpTracker
from debugtracer.trace.birth import Birth


def trace(
    step: Callable[[], torch.Tensor | None], model: nn.Module | None = None, rows: int | None = None, **inputs: Any
) -> Birth | None:
    """Run `step`, call backward on its loss, look for the birth in loss and gradients."""
    ledger = OpTracker()
    tracer = OpTracer(observers=[ledger])
    parameters = dict(model.named_parameters()) if model is not None else {}
    if model is not None:
        tracer.name_root(model)
        for name, buffer in model.named_buffers():
            tracer.label(buffer, f"buffer {name}")
    for name, parameter in parameters.items():
        tracer.label(parameter, f"parameter {name}")
    for name, tensor in inputs.items():
        tracer.label(tensor, name if name.startswith("batch") else f"gradient {name}")
    with tracer:
        loss = step()
        if loss is not None and loss.requires_grad:
            loss.backward()
    targets = [("loss", loss)] + [(f"gradient {n}", p.grad) for n, p in parameters.items() if p.grad is not None]
    targets += [(f"gradient {n}", t.grad) for n, t in inputs.items() if t.requires_grad and t.grad is not None]
    return find_birth(ledger, targets=targets, batch_rows=rows)


def line_of(birth: Birth | None) -> str:
    """The source text of the blamed line."""
    assert birth is not None and birth.frame is not None, birth
    return birth.frame.code
