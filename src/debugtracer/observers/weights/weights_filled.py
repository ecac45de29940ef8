"""Remembers who fills the weights before the first update."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.buffer_values import is_plain
from debugtracer.trace.facts.weights_filled import Filled, WeightsFilled

MOST_FILLED = 4096  # tensors remembered (ours)
MOST_ROWS = 256  # parameters emitted (ours)
MOVES = frozenset({"to", "cuda", "cpu", "half", "bfloat16", "float", "double"})  # the same values in other memory
NO_FILLING = frozenset(
    {
        "requires_grad_",
        "detach_",
        "resize_",
        "set_",
        "share_memory_",
        "squeeze_",
        "unsqueeze_",
        "t_",
        "transpose_",
        "as_strided_",
    }
)


class WeightsFilledObserver(Observer):
    """Reads no value."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.filled: dict[int, tuple[str, RawFrames]] = {}
        """Address of a tensor's memory -> the function and line that filled it last."""
        self.emitted = False

    def reset(self) -> None:
        self.filled.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Remember an in-place filling, by nn.init or by hand."""
        name = getattr(function, "__name__", "")
        if (
            not self.emitted
            and name in MOVES
            and isinstance(output, Tensor)
            and is_plain(output)
            and (known := self.filled.get(args[0].data_ptr()))
        ):
            self.filled[output.data_ptr()] = known
        if self.emitted or not name.endswith("_") or name.startswith("_") or name in NO_FILLING:
            return
        if not isinstance(output, Tensor) or not is_plain(output) or not output.dim():
            return
        if whole(output) if output._is_view() else output.is_leaf:
            if len(self.filled) >= MOST_FILLED:
                self.filled.clear()
            self.filled[output.data_ptr()] = name, raw_frames()[:1]

    def step_begins(self, optimizer: Optimizer) -> None:
        """Emit what is known of the parameters at the first update."""
        self.run.unsubscribe(self.step_begins)
        if self.emitted:
            return
        self.emitted, names = True, self.run.names()
        rows: list[Filled] = []
        for parameter in parameters(optimizer):
            known = self.filled.get(parameter.data_ptr())
            if known is not None and id(parameter) in names and len(rows) < MOST_ROWS:
                rows.append(
                    Filled(param=names[id(parameter)], function=known[0], frame=next(iter(frames_of(known[1])), None))
                )
        self.filled.clear()
        if rows:
            self.run.emit(WeightsFilled(ref=self.run.ref("update", self.run.iteration - 1), rows=tuple(rows)))


def whole(view: Tensor) -> bool:
    """True for all of a tensor's memory, not the padding row; is_leaf may raise for a view made under no_grad."""
    return view.layout is torch.strided and view.numel() * view.element_size() == view.untyped_storage().nbytes()
