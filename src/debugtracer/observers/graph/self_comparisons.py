"""Follows losses without a graph whose two arguments are the same: do they become a term of a loss?"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.graph.constant_terms import ConstantTermsObserver
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.trace.facts.loss_call import ELEMENTWISE
from debugtracer.trace.facts.self_comparison import SelfComparison

MOST_ELEMENTS = 1 << 20  # of an argument (ours)
CLOSE = 1e-5  # of a probability, the rounding of exp(log_softmax(x)) beside softmax(x) in float32 (ours)


class SelfComparisonsObserver(ConstantTermsObserver):
    """Compares values in inspected steps alone: one wait for the device for each loss without a graph."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.compared: dict[RawFrames, tuple[str, tuple[int, ...]]] = {}
        """The lines of a comparison -> its function, and the shape of its arguments."""

    def forget(self) -> None:
        """Drop what was followed in the step."""
        super().forget()
        self.compared.clear()

    def begins(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> bool:
        """Whether a loss without a graph compares a value with itself."""
        name = getattr(function, "__name__", "")
        if name != "kl_div" and name not in ELEMENTWISE:
            return False
        if not isinstance(output, Tensor) or output.requires_grad or not torch.is_grad_enabled():
            return False
        given = arguments(name, args, kwargs)
        is_log = name == "kl_div" and not given["log_target"]
        if not are_same(given["input"].detach(), given["target"].detach(), is_log):
            return False
        self.compared[raw_frames(2)] = name, tuple(given["input"].shape)
        return True

    def emit(self, source: RawFrames, summed: RawFrames) -> None:
        """Write down one that lies in the graph of a loss."""
        name, shape = self.compared[source]
        frame, sum_frame = frames_of(source)[0], frames_of(summed)[0]
        self.run.emit(SelfComparison(ref=self.run.ref(), function=name, shape=shape, frame=frame, sum_frame=sum_frame))


def are_same(a: Tensor, b: Tensor, is_log: bool) -> bool:
    """Whether two arguments of a loss hold the same values, and not one value everywhere; the first as logarithms."""
    if a.shape != b.shape or not 1 < a.numel() <= MOST_ELEMENTS or not a.is_floating_point():
        return False
    with torch.no_grad(), torch._C.DisableTorchFunction():
        if a.layout is not torch.strided or bool((b == b.reshape(-1)[0]).all()):
            return False
        return torch.allclose(a.exp(), b.to(a.dtype), rtol=0.0, atol=CLOSE) if is_log else torch.equal(a, b.to(a.dtype))
