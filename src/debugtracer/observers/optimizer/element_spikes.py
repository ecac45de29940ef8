"""Compares gradient elements with Adam's second moment, on inspected steps and where the loss stands out."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.observers.loss.loss_rows import OutlyingLoss
from debugtracer.observers.numerics.even_sample import evenly, matrices, row_medians, sample_size
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
            held = [p for p in parameters(optimizer) if id(p) not in tables]
            seen = compared(held, optimizer)
            if seen:
                self.emit(optimizer, seen, stands_out)

    def emit(self, optimizer: Optimizer, seen: list[Comparison], stands_out: bool) -> None:
        """Emit a fact where there is something."""
        found = [one for one in seen if one.beyond > 0]
        if not found:
            return
        names, unnamed = self.run.names(), "a parameter outside the model"
        spiked = [
            SpikedParam(
                name=names.get(id(one.parameter), unnamed),
                numel=one.parameter.numel(),
                sampled=one.counted,
                spiked=one.beyond,
                most=number(one.largest),
            )
            for one in found[:MOST_NAMED]
        ]
        self.run.emit(
            ElementSpikes(
                ref=self.run.ref("update", self.run.iteration - 1),
                optimizer=type(optimizer).__name__,
                params=tuple(spiked),
                looked=len(seen),
                age=min(one.age for one in seen),
                standout=stands_out,
            )
        )


class Comparison(NamedTuple):
    """What was seen of one parameter: elements that count, those beyond, the largest g^2/v, and the age of v."""

    parameter: Tensor
    counted: int
    beyond: int
    largest: float
    age: int


def compared(held: list[Tensor], optimizer: Optimizer) -> list[Comparison]:
    """Compare all that have both; parameters whose samples are equally long together, one transfer for each size."""
    groups = {id(p): group for group in optimizer.param_groups for p in group["params"]}
    pairs = [(p, *pair) for p in held if (pair := pair_of(p, optimizer, groups.get(id(p), {}))) is not None]
    most = sample_size(len(pairs))
    grads = [evenly(grad, most) for _, _, grad, _, _ in pairs]
    seen: dict[int, Comparison] = {}
    for places, v in matrices([evenly(v, most) for _, v, _, _, _ in pairs]):
        rows = ratios(v, torch.stack([grads[n] for n in places]), [1.0 - pairs[n][4] ** pairs[n][3] for n in places])
        for place, (counted, beyond, largest) in zip(places, rows, strict=True):
            parameter, _, _, age, _ = pairs[place]
            seen[place] = Comparison(parameter, int(counted), int(beyond), largest, age)
    return [seen[place] for place in sorted(seen)]


def ratios(v: Tensor, grad: Tensor, scales: list[float]) -> list[list[float]]:
    """How many elements count, how many are beyond, and the largest g^2/v, for each row of second moments and of
    gradients, shape (rows, n); `scales` correct the bias of the moments."""
    known, squares = v / torch.tensor(scales, dtype=v.dtype, device=v.device)[:, None], grad.square()
    usual = row_medians(torch.where(known > 0, known, torch.nan))[:, None]
    counted = (known > RARE * usual) & torch.isfinite(squares)
    shares = torch.where(counted, squares / known, 0.0)
    columns = (counted.sum(dim=1), (shares > BEYOND).sum(dim=1), shares.amax(dim=1))
    rows: list[list[float]] = torch.stack([column.double() for column in columns], dim=1).tolist()
    return rows


def pair_of(parameter: Tensor, optimizer: Optimizer, group: dict[str, Any]) -> tuple[Tensor, Tensor, int, float] | None:
    """The second moment of a parameter, its gradient, the age of the moment and its beta2. None without both."""
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
    age, beta2 = int(step), float(group["betas"][1]) if "betas" in group else 0.0
    return (v, grad, age, beta2) if age and 0 < beta2 < 1 and v.numel() else None
