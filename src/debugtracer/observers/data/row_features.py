"""Rows of inputs and of targets as a few columns of numbers, for a probe that asks what the one tells of the other."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d

from debugtracer.observers.model.shadow_model import is_dense

COLUMNS = 256  # of the inputs (ours)
POOLED = 8  # places of a picture in each direction (ours)
BUCKETS = 128  # of token ids that are counted (ours)
TARGETS = 8  # columns of the targets (ours)
FEW_IDS = 4  # whole numbers in a row, up to which each is a column of its own (ours)


def is_target(value: Tensor) -> bool:
    """Whether it holds a class, or a few numbers, for each row."""
    if not is_dense(value) or not 0 < value.dim() <= 2:
        return False
    return value.is_floating_point() or value.numel() == len(value)


def as_columns(targets: Tensor) -> Tensor:
    """The targets as numbers in double precision: of classes a column for each of the most frequent ones."""
    rows = targets.reshape(len(targets), -1)
    if rows.is_floating_point():
        return rows[:, :: -(-rows.shape[1] // TARGETS)].double()
    values, counts = rows[:, 0].unique(return_counts=True)
    kept: Tensor = rows[:, :1] == values[counts.argsort(descending=True)[:TARGETS]]
    return kept.double()


def as_features(inputs: Iterable[Tensor]) -> Tensor | None:
    """The inputs of the same rows side by side; None where one of them has none, or numbers that no probe reads."""
    held = list(inputs)
    if not held or not all(is_dense(one) and one.dim() for one in held):
        return None
    return torch.cat([features(one) for one in held], 1)


def features(value: Tensor) -> Tensor:
    """The columns of one input: of pictures the means of their parts, of texts how often each id is in them."""
    rows = len(value)
    if is_picture(value):
        return adaptive_avg_pool2d(value.reshape(rows, -1, *value.shape[-2:]).float(), POOLED).flatten(1)[:, :COLUMNS]
    flat = value.reshape(rows, -1)
    if is_text(value):
        counts = torch.zeros(rows, BUCKETS, device=value.device, dtype=torch.float32)
        return counts.scatter_add_(1, flat.long() % BUCKETS, torch.ones_like(flat, dtype=torch.float32))
    return flat[:, :: -(-flat.shape[1] // COLUMNS)].float()


def is_picture(value: Tensor) -> bool:
    """Whether rows have a height and a width."""
    return value.dim() >= 3 and min(value.shape[-2:]) >= POOLED and (value.dim() > 3 or value.dtype is torch.uint8)


def is_text(value: Tensor) -> bool:
    """Whether rows are sequences of ids."""
    whole = not value.is_floating_point() and value.dtype not in (torch.bool, torch.uint8)
    return whole and value[0].numel() > FEW_IDS
