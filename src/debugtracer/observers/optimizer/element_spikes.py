"""Compares gradient elements with Adam's second moment, on inspected steps and where the loss stands out."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.observers.loss.loss_rows import OutlyingLoss
from debugtracer.observers.numerics.dynamics import evenly
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.run_state import parameters
from debugtracer.trace.facts.element_spikes import BEYOND, ElementSpikes, SpikedParam
from debugtracer.trace.number import number

# of the median second moment of a tensor; below, an element was seen too rarely to know its gradient (ours)
RARE = 0.01
MOST_LOOKS = 40  # looks of a run that are not inspected steps (ours)
MOST_NAMED = 200  # parameters of a fact (ours)


class ElementSpikeObserver(Observer):
    """An even sample of each tensor; waits for a device once per look, and there on inspected steps only."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.standout = OutlyingLoss()
        self.looks = 0
        self.stands_out = False

    def reset(self) -> None:
        self.standout = OutlyingLoss()
        self.looks, self.stands_out = 0, False

    def missed(self) -> None:
        """Learn the losses anew."""
        self.standout, self.stands_out = OutlyingLoss(), False

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Check if this loss is above all of the last ones. On the CPU only: reading one on a device would sync."""
        self.stands_out = self.standout.push(losses) is not None

    def step_begins(self, optimizer: Optimizer) -> None:
        """Measure when gradients are final and the second moment does not hold them yet."""
        stands_out, self.stands_out = self.stands_out, False
        if not self.run.inspecting:
            if not stands_out or self.looks >= MOST_LOOKS:
                return
            self.looks += 1
        tables = {
            id(m.weight)
            for root in self.run.modules()
            for m in root.modules()
            if isinstance(m, (nn.Embedding, nn.EmbeddingBag))
        }
        with torch.no_grad():
            seen = [
                (p, *one)
                for p in parameters(optimizer)
                if id(p) not in tables and (one := ratios(p, optimizer)) is not None
            ]
            if seen:
                self.emit(optimizer, seen, stands_out)

    def emit(self, optimizer: Optimizer, seen: list[tuple[Tensor, Tensor, int, int]], stands_out: bool) -> None:
        """Emit a fact where there is something; one transfer for all parameters."""
        counts = torch.stack([numbers for _, numbers, _, _ in seen]).tolist()
        found = [(p, sampled, row) for (p, _, sampled, _), row in zip(seen, counts, strict=True) if row[1] > 0]
        if not found:
            return
        names, unnamed = self.run.names(), "a parameter outside the model"
        spiked = [
            SpikedParam(
                name=names.get(id(p), unnamed),
                numel=p.numel(),
                sampled=int(row[0]),
                spiked=int(row[1]),
                most=number(row[2]),
            )
            for p, _, row in found[:MOST_NAMED]
        ]
        self.run.emit(
            ElementSpikes(
                ref=self.run.ref("update", self.run.iteration - 1),
                optimizer=type(optimizer).__name__,
                params=tuple(spiked),
                looked=len(seen),
                age=min(age for _, _, _, age in seen),
                standout=stands_out,
            )
        )


def ratios(parameter: Tensor, optimizer: Optimizer) -> tuple[Tensor, int, int] | None:
    """Return (counted, beyond, largest g^2/v) on their device, the number sampled, and the age of v. None without
    both."""
    state: dict[str, Any] = optimizer.state.get(parameter, {})
    v, grad, step = state.get("exp_avg_sq"), parameter.grad, state.get("step")
    if (
        not isinstance(v, Tensor)
        or v.is_complex()
        or grad is None
        or grad.layout is not torch.strided
        or v.shape != parameter.shape
        or step is None
    ):
        return None
    age = int(step)
    beta2 = next(
        (
            float(g["betas"][1])
            for g in optimizer.param_groups
            if "betas" in g and any(p is parameter for p in g["params"])
        ),
        0.0,
    )
    if not age or not 0 < beta2 < 1 or not v.numel():
        return None
    known, squares = evenly(v) / (1.0 - beta2**age), evenly(grad).square()
    usual = torch.where(known > 0, known, torch.nan).nanmedian()
    counted = (known > RARE * usual) & torch.isfinite(squares)
    shares = torch.where(counted, squares / known, 0.0)
    return (
        torch.stack((counted.sum().double(), (shares > BEYOND).sum().double(), shares.amax().double())),
        known.numel(),
        age,
    )
