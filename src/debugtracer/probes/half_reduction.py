"""Repeats large reductions of half-precision tensors in float32, on inspected steps."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from debugtracer.probes.dynamics import HALF
from debugtracer.probes.taker import Taker
from debugtracer.trace.facts.half_reduction import HalfReduction
from debugtracer.trace.number import number

SCANS = frozenset({"cumsum", "logcumsumexp"})
REDUCTIONS = SCANS | {"sum", "nansum", "mean", "nanmean", "norm", "linalg_norm", "linalg_vector_norm", "var", "std", "logsumexp"}
LEAST = 4096  # elements of one result (CHECKS 3.5 num_reduction_half)
MOST = 2_000_000  # elements of one call that are converted: 12 to 24 ms on one core (ours)
MOST_OF_STEP = 8_000_000  # elements of one step (ours)


class HalfReductionTaker(Taker):
    """One copy in float32 for each large reduction of an inspected step; nothing otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.elements, self.at = 0, -1

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """A reduction with a half-precision result: the same call on the same values in float32."""
        name = getattr(function, "__name__", "")
        if name not in REDUCTIONS or not isinstance(output, Tensor) or output.dtype not in HALF or not isinstance(args[0] if args else None, Tensor):
            return
        if self.at != self.desk.step:
            self.at, self.elements = self.desk.step, 0
        given, across = args[0], per_result(name, args, kwargs, output)
        if given.dtype not in HALF or across <= LEAST or given.numel() > min(MOST, MOST_OF_STEP - self.elements) or kwargs.get("out") is not None:
            return
        self.elements += given.numel()
        with torch.no_grad():
            wide = function(given.detach().float(), *args[1:], **{**kwargs, **({"dtype": torch.float32} if kwargs.get("dtype") is not None else {})})
            if isinstance(wide, Tensor) and wide.shape == output.shape:
                self.compare(name, across, output, wide.reshape(-1))

    def compare(self, name: str, across: int, output: Tensor, wide: Tensor) -> None:
        """How far they are apart; one host sync."""
        half = output.detach().float().reshape(-1)
        good = torch.isfinite(wide)
        over = good & ~torch.isfinite(half)
        apart = torch.where(good & ~over, (half - wide).abs(), 0.0)
        worst = torch.where(over, math.inf, apart).argmax()
        parts = [half[worst], wide[worst], apart.amax(), torch.where(good, wide.abs(), 0.0).amax(), over.sum()]
        value, same, most, largest, overflows = torch.stack([part.double() for part in parts]).tolist()
        if largest <= torch.finfo(torch.float16).tiny:  # results that float16 cannot hold in full: that is underflow, not the sum
            return
        self.desk.tell(
            HalfReduction(
                ref=self.desk.ref(),
                op=name.removeprefix("linalg_"),
                frame=self.desk.here(),
                dtype=str(output.dtype).removeprefix("torch."),
                elements=across,
                value=number(value),
                wide=number(same),
                error=round(most / largest, 6),
                overflows=int(overflows),
            )
        )


def per_result(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], output: Tensor) -> int:
    """Elements that make one result; the last one of a scan is made of the whole dimension."""
    given: Tensor = args[0]
    if name in SCANS:
        dim = kwargs.get("dim", args[1] if len(args) > 1 else 0)
        return int(given.shape[dim]) if given.dim() else 1
    return given.numel() // max(output.numel(), 1)
