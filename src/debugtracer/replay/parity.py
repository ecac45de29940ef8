"""How equal a replay was: the anomaly is compared first, then the bits of loss and gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from debugtracer.recorder.alarm import Alarm
from debugtracer.replay.reexecute import Reexecution

if TYPE_CHECKING:
    from debugtracer.replay.rewind import ReplayedState
    from debugtracer.replay.targets import Target


@dataclass(frozen=True)
class Parity:
    """`reproduced`: the anomaly came again. `phrase` says how same the bits were."""

    reproduced: bool
    phrase: str


def judge(alarm: Alarm, run: Reexecution, targets: list[Target], world: ReplayedState) -> Parity:
    """Compare a finished unchanged replay with the live step. Syncs the host."""
    reproduced = any(bad(t.tensor) for t in targets)
    if not reproduced:
        return Parity(False, "not reproduced")
    if alarm.symptom in {"nan_loss", "nan_output"}:
        same = alarm.loss is None or any(same_bits(t.tensor, alarm.loss) for t in targets)
        return Parity(True, "bitwise" if same else "anomaly only")
    loss_same = alarm.loss is None or not run.losses or same_bits(list(run.losses.values())[-1], alarm.loss)
    if alarm.at_scale_one or alarm.written:  # the gradients of a step that is written are gone
        return Parity(True, "loss bitwise" if loss_same else "anomaly only")
    grads_same = all(same_bits(p.grad, live) for p, live in world.grads if live is not None)
    return Parity(
        True,
        "bitwise" if loss_same and grads_same else "loss bitwise, gradients differ" if loss_same else "anomaly only",
    )


def bad(tensor: Tensor) -> bool:
    """True for any NaN or infinity. Syncs the host."""
    values = tensor.detach()
    if values.layout is not torch.strided:
        values = values.coalesce().values()
    return (values.is_floating_point() and not bool(torch.isfinite(values).all())) or (
        values.is_complex() and not bool(torch.isfinite(torch.view_as_real(values)).all())
    )


def same_bits(a: Tensor | None, b: Tensor | None) -> bool:
    """True for equal shape, dtype and bytes (NaN payloads included)."""
    if a is None or b is None:
        return a is b
    if a.shape != b.shape or a.dtype != b.dtype or a.layout is not torch.strided or b.layout is not torch.strided:
        return False
    return bool(
        torch.equal(
            a.detach().contiguous().cpu().reshape(-1).view(torch.uint8),
            b.detach().contiguous().cpu().reshape(-1).view(torch.uint8),
        )
    )
