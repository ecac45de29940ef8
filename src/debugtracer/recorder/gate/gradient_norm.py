"""The norm of the gradients of an update: that of the loop's own clipping where it says the same, else one fused
call."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from operator import attrgetter, is_not
from typing import Any

import torch
from torch import Tensor

from debugtracer.recorder.gate.norms import l2_on_cpu, scalar, total_l2
from debugtracer.recorder.run_state import RunState

GRADIENT, GIVEN = attrgetter("grad"), partial(is_not, None)


class GradientNorm:
    """One per process. No host sync."""

    def __init__(self, state: RunState, l2: Callable[[list[Tensor]], Tensor | None] = total_l2) -> None:
        """Take `l2`, which gives the norm over all tensors of a list that is not in host memory."""
        self.state, self.l2 = state, l2
        self.clip: tuple[int, int, int, int, Tensor] | None = None
        """Count, first and last of the gradients that the loop clipped in this step, the iterations before it, and
        their norm before it."""

    def clip_returned(self, args: tuple[Any, ...], kwargs: dict[str, Any], norm: Any) -> None:
        """Take what clip_grad_norm_ has returned; a norm of another order is no L2."""
        if (args[2] if len(args) > 2 else kwargs.get("norm_type", 2.0)) == 2:
            self.clipped(args[0], norm)

    def clipped(self, parameters: Any, norm: Any) -> None:
        """Take a norm that the loop has measured itself: a finite one says that all gradients are finite."""
        if isinstance(parameters, list) and parameters and isinstance(norm, Tensor):
            self.clip = len(parameters), id(parameters[0]), id(parameters[-1]), self.state.iteration, norm.detach()

    def of(self, parameters: list[Tensor]) -> Tensor | None:
        """Return the norm of the gradients: that of the clip if it was over these parameters and finite (read for free
        on the CPU), else our own; None where there is no gradient."""
        clip, self.clip = self.clip, None
        if clip is not None and parameters and self.is_of(clip, parameters) and math.isfinite(scalar(clip[4])):
            return clip[4]
        return self.l2([grad for p in parameters if (grad := p.grad) is not None])

    def clip_of(self, parameters: list[Tensor]) -> Tensor | None:
        """Return the norm that the loop's own clipping of these gradients has measured on their device, () and not read
        yet."""
        clip, self.clip = self.clip, None
        if clip is None or not parameters or type(clip[4]) is not Tensor or clip[4].is_cpu:
            return None
        if clip[4].dtype is not torch.float32:  # overflows in half precision
            return None
        return clip[4] if clip[:4] == self.expected(parameters) else None

    def read(self, parameters: list[Tensor]) -> float:
        """The same as a number, of parameters in host memory."""
        clip, self.clip = self.clip, None
        norms = self.state.norms
        norms.gradients.clear()
        norms.weights.clear()  # those of the step before
        if clip is not None and self.is_of(clip, parameters) and math.isfinite(value := scalar(clip[4])):
            return value
        return l2_on_cpu(list(filter(GIVEN, map(GRADIENT, parameters))), norms.gradients)

    def is_of(self, clip: tuple[int, int, int, int, Tensor], parameters: list[Tensor]) -> bool:
        """Whether a clip was over these parameters, in this step, and its norm can be read at once."""
        return clip[:4] == self.expected(parameters) and clip[4].device.type == "cpu"

    def expected(self, parameters: list[Tensor]) -> tuple[int, int, int, int]:
        """What a clip over these parameters in this step has noted."""
        return len(parameters), id(parameters[0]), id(parameters[-1]), self.state.iteration

    def reset(self) -> None:
        """Forget a clip of a run before."""
        self.clip = None
