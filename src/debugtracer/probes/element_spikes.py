"""Looks at each element of a gradient beside Adam's second moment: on inspected steps, and where the loss stands out."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.probes.dynamics import evenly
from debugtracer.probes.loss_rows import Standout
from debugtracer.probes.optimizer import parameters
from debugtracer.probes.taker import Taker
from debugtracer.trace.facts.element_spikes import BEYOND, ElementSpikes, SpikedParam
from debugtracer.trace.number import number

RARE = 0.01  # of the median second moment of a tensor; below, an element was seen too rarely to know its gradient (ours)
MOST_LOOKS = 40  # looks of a run that are not inspected steps (ours)
MOST_NAMED = 200  # parameters of a fact (ours)


class ElementSpikeTaker(Taker):
    """An even sample of each tensor; waits for a device once per look, and there on inspected steps only."""

    def __init__(self) -> None:
        super().__init__()
        self.standout = Standout()
        self.looks = 0
        self.stands_out = False

    def forget(self) -> None:
        """A forked child starts from nothing."""
        self.standout = Standout()
        self.looks, self.stands_out = 0, False

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Is this loss above all of the last ones? On the CPU only: reading one on a device would wait for it."""
        self.stands_out = self.standout.push(losses) is not None

    def step_begins(self, optimizer: Optimizer) -> None:
        """The gradients are final, the second moment does not know them yet."""
        stands_out, self.stands_out = self.stands_out, False
        if not self.desk.inspecting:
            if not stands_out or self.looks >= MOST_LOOKS:
                return
            self.looks += 1
        tables = {id(m.weight) for root in self.desk.modules() for m in root.modules() if isinstance(m, (nn.Embedding, nn.EmbeddingBag))}
        with torch.no_grad():
            seen = [(p, *one) for p in parameters(optimizer) if id(p) not in tables and (one := ratios(p, optimizer)) is not None]
            if seen:
                self.tell(optimizer, seen, stands_out)

    def tell(self, optimizer: Optimizer, seen: list[tuple[Tensor, Tensor, int, int]], stands_out: bool) -> None:
        """One transfer for all parameters; a fact only where there is something."""
        counts = torch.stack([numbers for _, numbers, _, _ in seen]).tolist()
        found = [(p, sampled, row) for (p, _, sampled, _), row in zip(seen, counts, strict=True) if row[1] > 0]
        if not found:
            return
        names, unnamed = self.desk.names(), "a parameter outside the model"
        spiked = [
            SpikedParam(name=names.get(id(p), unnamed), numel=p.numel(), sampled=int(row[0]), spiked=int(row[1]), most=number(row[2]))
            for p, _, row in found[:MOST_NAMED]
        ]
        self.desk.tell(
            ElementSpikes(
                ref=self.desk.ref("update", self.desk.iteration - 1),
                optimizer=type(optimizer).__name__,
                params=tuple(spiked),
                looked=len(seen),
                age=min(age for _, _, _, age in seen),
                standout=stands_out,
            )
        )


def ratios(parameter: Tensor, optimizer: Optimizer) -> tuple[Tensor, int, int] | None:
    """(elements that count, those beyond, the largest g^2/v), still on their device; how many were sampled; the age of v. None without both."""
    state: dict[str, Any] = optimizer.state.get(parameter, {})
    v, grad, step = state.get("exp_avg_sq"), parameter.grad, state.get("step")
    if not isinstance(v, Tensor) or v.is_complex() or grad is None or grad.layout is not torch.strided or v.shape != parameter.shape or step is None:
        return None
    age = int(step)
    beta2 = next((float(g["betas"][1]) for g in optimizer.param_groups if "betas" in g and any(p is parameter for p in g["params"])), 0.0)
    if not age or not 0 < beta2 < 1 or not v.numel():
        return None
    known, squares = evenly(v) / (1.0 - beta2**age), evenly(grad).square()
    usual = torch.where(known > 0, known, torch.nan).nanmedian()
    counted = (known > RARE * usual) & torch.isfinite(squares)
    shares = torch.where(counted, squares / known, 0.0)
    return torch.stack((counted.sum().double(), (shares > BEYOND).sum().double(), shares.amax().double())), known.numel(), age
