"""Reads the running statistics of batch norms that each rank of a data-parallel run keeps for itself."""

from __future__ import annotations

import itertools
import math

from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer

from debugtracer.observers.device.replicas import group_of
from debugtracer.observers.observer import Observer, inspected
from debugtracer.trace.facts.norm_statistics import LayerStatistics, NormStatistics

MOST_LAYERS = 8  # layers looked at: the first ones are nearest to the data (ours)
MOST_CHANNELS = 64  # (ours)
# not SyncBatchNorm, whose statistics are those of all ranks
BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


class NormStatisticsObserver(Observer):
    """At the gates of inspected steps, under DistributedDataParallel on several ranks."""

    @inspected
    def step_begins(self, optimizer: Optimizer) -> None:
        """Read statistics that the forward has updated; the next one may replace them by those of rank 0."""
        if not self.run.inspecting:
            return
        for module in self.run.modules():
            if isinstance(module, DistributedDataParallel) and len(group_of(module)) > 1:
                found = (
                    statistics_of(name, part)
                    for name, part in module.module.named_modules()
                    if isinstance(part, BATCH_NORMS)
                )
                layers = tuple(itertools.islice((layer for layer in found if layer is not None), MOST_LAYERS))
                if layers:
                    ref = self.run.ref("update", self.run.iteration - 1)
                    self.run.emit(
                        NormStatistics(
                            ref=ref, group=group_of(module), broadcast=bool(module.broadcast_buffers), layers=layers
                        )
                    )


def statistics_of(name: str, layer: nn.BatchNorm1d | nn.BatchNorm2d | nn.BatchNorm3d) -> LayerStatistics | None:
    """Read one layer; None if not in training, without statistics or not finite. Waits for the device."""
    mean, var, momentum = layer.running_mean, layer.running_var, layer.momentum
    if not layer.training or mean is None or var is None or not momentum or mean.device.type == "meta":
        return None
    values = tuple(tuple(map(float, held[:MOST_CHANNELS].tolist())) for held in (mean, var))
    if not all(math.isfinite(value) for held in values for value in held):
        return None
    return LayerStatistics(name=name, kind=type(layer).__name__, momentum=momentum, mean=values[0], var=values[1])
