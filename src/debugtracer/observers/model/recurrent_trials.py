"""Trials of recurrent layers and attentions: does one of them take the samples of the batch for steps of time?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from debugtracer.observers.graph.lost_layers import made_at
from debugtracer.observers.model.shadow_model import RecordedForward


def over_batch(
    model: nn.Module, leak: dict[str, Any], base: Tensor, seen: Sequence[RecordedForward], samples: int
) -> dict[str, Any] | None:
    """A recurrent layer or an attention without batch_first that is given the batch in the dimension of time, where the
    output of a sample (of the recurrent layer: the last) was seen to depend on others. Only of models with one row of
    output a sample: there the first dimension is the batch and nothing else."""
    if not leak["changed"] or base.dim() > 2:
        return None
    layers = dict(model.named_modules())
    for forward in seen:
        layer, given = layers.get(forward.name), forward.given
        attends = attention_of(layer)
        steps = layer if isinstance(layer, nn.RNNBase) and leak["position"] == samples - 1 else attends
        if steps is None or steps.batch_first or given is None or given.dim() != 3:
            continue
        if given.shape[0] == samples and given.shape[1] not in (1, samples):
            weight = "weight_ih_l0" if attends is None else "in_proj_weight"
            inner = f"{forward.name}.self_attn" if attends is not layer and attends is not None else forward.name
            return {
                "changed": True, "module": forward.name or None, "length": int(given.shape[1]),
                "function": "" if attends is None else "attention", "frame": made_at([model], f"{inner}.{weight}"),
            }  # fmt: skip
    return None


def attention_of(layer: nn.Module | None) -> nn.MultiheadAttention | None:
    """The attention of a layer, which may hold it: torch computes an encoder's own in one call."""
    held = getattr(layer, "self_attn", None) if isinstance(layer, nn.TransformerEncoderLayer) else layer
    return held if isinstance(held, nn.MultiheadAttention) else None
