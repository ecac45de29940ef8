"""Repeats large reductions of half-precision tensors in float32, on inspected steps."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.recorder.tape.entry import HALF
from debugtracer.trace.facts.half_reduction import HalfReduction
from debugtracer.trace.number import number

SCANS = frozenset({"cumsum", "logcumsumexp"})
REDUCTIONS = SCANS | {
    "sum",
    "nansum",
    "mean",
    "nanmean",
    "norm",
    "linalg_norm",
    "linalg_vector_norm",
    "var",
    "std",
    "logsumexp",
}
LEAST = 4096  # elements of one result (docs/rationale/checks.md#num_reduction_half)
MOST = 2_000_000  # elements of one call that are converted: 12 to 24 ms on one core (ours)
MOST_OF_STEP = 8_000_000  # elements of one step (ours)


class HalfReductionObserver(Observer):
    """One copy in float32 for each large reduction of an inspected step; nothing otherwise."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.elements, self.at = 0, -1

    @of_functions(REDUCTIONS)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Repeat a reduction with a half-precision result in float32 on the same values."""
        name = getattr(function, "__name__", "")
        if (
            name not in REDUCTIONS
            or not isinstance(output, Tensor)
            or output.dtype not in HALF
            or not isinstance(args[0] if args else None, Tensor)
        ):
            return
        if self.at != self.run.step:
            self.at, self.elements = self.run.step, 0
        given, across = args[0], per_result(name, args, kwargs, output)
        if (
            given.dtype not in HALF
            or across <= LEAST
            or given.numel() > min(MOST, MOST_OF_STEP - self.elements)
            or kwargs.get("out") is not None
        ):
            return
        self.elements += given.numel()
        with torch.no_grad():
            wide = function(
                given.detach().float(),
                *args[1:],
                **{**kwargs, **({"dtype": torch.float32} if kwargs.get("dtype") is not None else {})},
            )
            if isinstance(wide, Tensor) and wide.shape == output.shape:
                self.compare(name, across, output, wide.reshape(-1))

    def compare(self, name: str, across: int, output: Tensor, wide: Tensor) -> None:
        """Compare the two results; one host sync."""
        half = output.detach().float().reshape(-1)
        good = torch.isfinite(wide)
        over = good & ~torch.isfinite(half)
        apart = torch.where(good & ~over, (half - wide).abs(), 0.0)
        worst = torch.where(over, math.inf, apart).argmax()
        parts = [half[worst], wide[worst], apart.amax(), torch.where(good, wide.abs(), 0.0).amax(), over.sum()]
        value, same, most, largest, overflows = torch.stack([part.double() for part in parts]).tolist()
        # results that float16 cannot hold in full: that is underflow, not the sum
        if largest <= torch.finfo(torch.float16).tiny:
            return
        self.run.emit(
            HalfReduction(
                ref=self.run.ref(),
                op=name.removeprefix("linalg_"),
                frame=self.run.here(),
                dtype=str(output.dtype).removeprefix("torch."),
                elements=across,
                value=number(value),
                wide=number(same),
                error=round(most / largest, 6),
                overflows=int(overflows),
            )
        )


def per_result(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], output: Tensor) -> int:
    """The number of elements that make one result; the last one of a scan is made of the whole dimension."""
    given: Tensor = args[0]
    if name in SCANS:
        dim = kwargs.get("dim", args[1] if len(args) > 1 else 0)
        return int(given.shape[dim]) if given.dim() else 1
    return given.numel() // max(output.numel(), 1)
