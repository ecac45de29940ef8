"""Trials of recurrent layers and attentions: does one of them take the samples of the batch for steps of time?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    for forward, layer, given in first_along(model, seen, samples):
        attends = attention_of(layer)
        if (attends is None and leak["position"] != samples - 1) or given.shape[1] in (1, samples):
            continue
        weight = "weight_ih_l0" if attends is None else "in_proj_weight"
        inner = f"{forward.name}.self_attn" if attends is not layer and attends is not None else forward.name
        return {
            "changed": True, "module": forward.name or None, "length": int(given.shape[1]),
            "function": "" if attends is None else "attention", "frame": made_at([model], f"{inner}.{weight}"),
        }  # fmt: skip
    return None


def along_time(
    model: nn.Module, leak: dict[str, Any] | None, base: Tensor, seen: Sequence[RecordedForward], samples: int
) -> bool:
    """Whether a layer that takes time in the first dimension was given what the trial took for samples, and the model
    gives as many rows of several numbers each: then time is first throughout, as (time, batch, features)."""
    return bool(leak and leak["changed"] and base.dim() > 2 and next(first_along(model, seen, samples), None))


def first_along(
    model: nn.Module, seen: Sequence[RecordedForward], samples: int
) -> Iterator[tuple[RecordedForward, nn.Module, Tensor]]:
    """Yield the recurrent layers and attentions without batch_first whose first dimension is that of the samples."""
    layers = dict(model.named_modules())
    for forward in seen:
        layer, given = layers.get(forward.name), forward.given
        steps = layer if isinstance(layer, nn.RNNBase) else attention_of(layer)
        if layer is None or steps is None or steps.batch_first or given is None or given.dim() != 3:
            continue
        if given.shape[0] == samples:
            yield forward, layer, given


def attention_of(layer: nn.Module | None) -> nn.MultiheadAttention | None:
    """The attention of a layer, which may hold it: torch computes an encoder's own in one call."""
    held = getattr(layer, "self_attn", None) if isinstance(layer, nn.TransformerEncoderLayer) else layer
    return held if isinstance(held, nn.MultiheadAttention) else None
