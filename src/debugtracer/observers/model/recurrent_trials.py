"""Trials of a model's recurrent layers: does one of them take the samples of the batch for steps of time?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from debugtracer.observers.graph.lost_layers import made_at
from debugtracer.observers.model.shadow_model import RecordedForward


def over_batch(
    model: nn.Module, leak: dict[str, Any], base: Tensor, seen: Sequence[RecordedForward], samples: int
) -> dict[str, Any] | None:
    """A recurrent layer without batch_first that is given the batch in the dimension of time, where the last sample's
    output was seen to depend on those before it. Only of models with one row of output a sample: there the first
    dimension is the batch and nothing else."""
    if not leak["changed"] or leak["position"] != samples - 1 or base.dim() > 2:
        return None
    layers = dict(model.named_modules())
    for forward in seen:
        layer, given = layers.get(forward.name), forward.given
        if not isinstance(layer, nn.RNNBase) or layer.batch_first or given is None or given.dim() != 3:
            continue
        if given.shape[0] == samples and given.shape[1] not in (1, samples):
            return {
                "changed": True, "module": forward.name or None, "length": int(given.shape[1]),
                "frame": made_at([model], f"{forward.name}.weight_ih_l0"),
            }  # fmt: skip
    return None
