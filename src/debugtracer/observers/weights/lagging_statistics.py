"""Works out from the running statistics of a batch norm what its batches were like, when the run is over: a small
momentum leaves mostly the mean 0 and variance 1 that it was made with."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from debugtracer.observers.graph.lost_layers import made_at
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.observers.weights.fresh_statistics import norms_of
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.facts.lagging_statistics import LaggingStatistics
from debugtracer.trace.number import number

BEGUN = 8  # batches that may be counted by the first backward: microbatches, a dry run (ours)
BATCHES = 100  # that were counted at the end (ours: a run of less is a try)
KEPT = 0.4  # share of the first values that is left (ours; 0.00003 after 100 batches at torch's default of 0.1)


class LaggingStatisticsObserver(Observer):
    """Reads a counter of each batch norm once and buffers at the end; waits for a device then."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.new: ById[_BatchNorm, bool] = ById()
        """Those that began with mean 0 and variance 1."""

    def reset(self) -> None:
        self.new.clear()

    def restored(self, word: str, owner: Any) -> None:
        """Let go of those whose statistics came from a file."""
        if isinstance(owner, nn.Module):
            for _, norm in norms_of(owner):
                self.new.pop(norm, None)

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Note the new ones, once."""
        self.run.unsubscribe(self.backward_ended)
        for module in self.run.modules():
            for _, norm in norms_of(module):
                if norm.momentum and 0 < counted(norm) <= BEGUN and (1 - norm.momentum) ** BATCHES >= KEPT:
                    self.new[norm] = True

    def ended(self) -> None:
        """Emit the one that is furthest off."""
        models = self.run.modules()
        named = {id(norm): name for model in models for name, norm in norms_of(model)}
        late = [norm for norm in list(self.new) if counted(norm) >= BATCHES and kept(norm) >= KEPT]
        found = [(gap, norm) for norm in late if (gap := gap_of(norm)) is not None]
        if not found:
            return
        (mean_gap, ratio), norm = max(found, key=lambda one: one[0][0] + abs(one[0][1] - 1))
        name = named.get(id(norm), "")
        self.run.emit(
            LaggingStatistics(
                ref=self.run.ref("update", self.run.iteration - 1), module=name,
                frame=made_at(models, f"{name}.weight"),
                norms=len(found), momentum=number(norm.momentum or 0.0), batches=counted(norm),
                kept=number(kept(norm)), mean_gap=number(mean_gap), variance_ratio=number(ratio),
            )
        )  # fmt: skip


def counted(norm: _BatchNorm) -> int:
    """The number that its counter shows; 0 without a counter. Waits for a device."""
    count = norm.num_batches_tracked
    return 0 if count is None or count.is_meta else int(count)


def kept(norm: _BatchNorm) -> float:
    """The share of its first statistics that is left."""
    return float((1 - (norm.momentum or 0.0)) ** counted(norm))


def gap_of(norm: _BatchNorm) -> tuple[float, float] | None:
    """How far its statistics are from those of its batches: of the mean in deviations, of the variance as a ratio."""
    mean, var, left = norm.running_mean, norm.running_var, kept(norm)
    if mean is None or var is None or not mean.numel() or left >= 1:
        return None
    with torch.no_grad():
        mean, var = mean.double(), var.double()
        of_batches = ((var - left) / (1 - left)).clamp_min(norm.eps)
        gap = ((mean / (1 - left) - mean).abs() / of_batches.sqrt()).mean()
        ratio = (var / of_batches).median()
        return (float(gap), float(ratio)) if bool(torch.isfinite(gap + ratio)) else None
