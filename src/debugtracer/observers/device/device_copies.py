"""Compares, in inspected steps, what arrives on a device with what was copied there."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.trace.facts.damaged_copy import DamagedCopy

COPIES = frozenset({"to", "cuda", "cpu", "npu", "copy_"})
MOST = 2**22  # elements of a copy that is compared (ours)
CALLS = 16  # copies that are compared in a step (ours)
PLAIN = (Tensor, nn.Parameter)


class Difference(NamedTuple):
    """Elements in which a copy is not what was copied."""

    different: int
    zeros: int


class DeviceCopiesObserver(Observer):
    """Reads both sides on the host, each over its own way: what another device has lost on the way shows. Waits for the
    devices, in inspected steps alone."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.compared = 0
        """Copies of the step in flight."""

    def reset(self) -> None:
        self.compared = 0

    @of_functions(COPIES)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Compare the two sides of a copy between devices."""
        name = getattr(function, "__name__", "")
        if name not in COPIES or self.compared >= CALLS or not args:
            return
        source: Any = (args[1] if len(args) > 1 else kwargs.get("src")) if name == "copy_" else args[0]
        if not crosses(source, output) or is_capturing():
            return
        self.compared += 1
        found = difference(source, output)
        if found is not None:
            self.run.emit(
                DamagedCopy(
                    ref=self.run.ref("forward"), function=name, source=str(source.device), target=str(output.device),
                    elements=output.numel(), different=found.different, zeros=found.zeros, frame=first(raw_frames(1)),
                )
            )  # fmt: skip

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Begin to count anew."""
        self.compared = 0


def crosses(source: Any, copy: Any) -> bool:
    """Whether one is a plain copy of the other on another device, of a size that can be read."""
    if type(source) not in PLAIN or type(copy) not in PLAIN or source.device == copy.device:
        return False
    alike = source.dtype == copy.dtype and source.shape == copy.shape and source.numel() <= MOST
    return alike and is_dense(source) and is_dense(copy)


def is_capturing() -> bool:
    """Whether a CUDA graph is being recorded: nothing may be waited for then."""
    return torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()


def difference(source: Tensor, copy: Tensor) -> Difference | None:
    """Compare bits, the source first: what a stream still copies to the host has arrived after that. None where all are
    the same."""
    with torch.no_grad():
        held = source.detach().cpu().contiguous().reshape(-1)
        got = copy.detach().cpu().contiguous().reshape(-1)
        width = held.element_size()
        apart = (held.view(torch.uint8) != got.view(torch.uint8)).reshape(-1, width).any(1)
        different = int(apart.sum())
        return Difference(different, int((got[apart] == 0).sum())) if different else None
