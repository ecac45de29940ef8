"""Finds in the first steps matrices whose units are all equal, so that they get equal gradients for ever."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.equal_units import EqualUnits
from debugtracer.trace.number import number

STEPS = 3  # updates looked at (docs/rationale/checks.md#effect-invariants)
FIRST = 8  # units compared before the whole matrix is (ours: eight equal rows do not happen by chance)
CLOSE = 1e-4  # relative distance of equal gradients: kernels round the last rows of a block differently
FILLERS = frozenset(
    {"fill_", "zero_", "constant_", "zeros_", "ones_", "copy_", "zeros", "ones", "full", "eye_", "uniform_", "normal_"}
)
MOST_FILLED = 4096  # fillings remembered (ours)
GATES = {"LSTM": 4, "GRU": 3}
KINDS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.RNNBase, nn.Bilinear)


class EqualUnitsObserver(Observer):
    """One host sync a step, for the first steps only."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.filled: dict[int, RawFrames] = {}
        """Address of a tensor's memory -> the line that filled it last."""
        self.looks: dict[str, int] = {}

    def reset(self) -> None:
        self.filled.clear()

    @of_functions(FILLERS)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Remember who fills a tensor before the first update."""
        if (
            getattr(function, "__name__", "") in FILLERS
            and self.run.step == 0
            and isinstance(output, Tensor)
            and output.dim() > 1
        ):
            if len(self.filled) >= MOST_FILLED:
                self.filled.clear()
            self.filled[output.data_ptr()] = raw_frames(2)

    def step_begins(self, optimizer: Optimizer) -> None:
        """Check matrices when gradients are final, in the first steps."""
        if self.run.step >= STEPS:
            self.filled.clear()
            self.run.unsubscribe(self.step_begins)
            return
        with torch.no_grad():
            suspects = [item for item in self.matrices() if first_equal(item[2])]
            for module, name, parameter, gates in suspects:
                self.compare_units(module, name, parameter, gates)

    def matrices(self) -> Iterator[tuple[str, str, Tensor, int]]:
        """Yield trainable matrices with several units: (module path, parameter path, tensor, gates)."""
        names = self.run.names()
        for root in self.run.modules():
            for module in root.modules():
                if not isinstance(module, KINDS):
                    continue
                for own, parameter in nn.Module.named_parameters(module, recurse=False):
                    gates = GATES.get(vars(module).get("mode", ""), 1)
                    if (
                        parameter.dim() > 1
                        and parameter.requires_grad
                        and parameter.grad is not None
                        and parameter.shape[0] // gates > 1
                    ):
                        name = names.get(id(parameter), own)
                        yield name.rpartition(".")[0], name, parameter, gates

    def compare_units(self, module: str, name: str, parameter: Tensor, gates: int) -> None:
        """Compare all units, and their gradients."""
        weight = parameter.detach().reshape(gates, parameter.shape[0] // gates, -1)
        if (
            not bool((weight == weight[:, :1]).all())
            or parameter.grad is None
            or parameter.grad.layout is not torch.strided
        ):
            return
        grad = parameter.grad.detach().reshape(weight.shape).float()
        spread, size, low, high = torch.stack(
            [(grad - grad[:, :1]).abs().amax(), grad.abs().amax(), weight.amin().float(), weight.amax().float()]
        ).tolist()  # rare: only for a matrix of equal units
        if not (math.isfinite(low) and math.isfinite(high)):
            return  # an explosion made them alike, no initialisation
        self.looks[name] = self.looks.get(name, 0) + 1 if size == 0 else 1
        self.run.emit(
            EqualUnits(
                looks=self.looks[name],
                ref=self.run.ref("update", self.run.iteration - 1),
                param=name,
                module=module,
                shape=tuple(parameter.shape),
                units=int(weight.shape[1]),
                value=number(low) if low == high else None,
                grad_equal=size > 0 and spread <= CLOSE * size,
                grad_zero=size == 0,
                frame=self.filler(parameter),
            )
        )

    def filler(self, parameter: Tensor) -> Frame | None:
        """The line that filled it."""
        frames = frames_of(self.filled.get(parameter.data_ptr(), ()))
        return frames[0] if frames else None


def first_equal(parameter: Tensor) -> bool:
    """True if the first units have the same weights. One small comparison; it waits for a device."""
    if (
        parameter.layout is not torch.strided
        or not parameter.numel()
        or type(parameter.data) is not Tensor
        or parameter.is_meta
    ):
        return False
    rows = parameter.detach()[:FIRST]
    return bool((rows == rows[:1]).all())
