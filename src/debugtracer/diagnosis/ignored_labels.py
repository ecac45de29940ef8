"""Whether the batch of an incident has a tensor of labels of which none counts."""

from __future__ import annotations

import torch

from debugtracer.errors import guarded
from debugtracer.recorder.tape.batches import Batch

LABELS = (torch.int64, torch.int32, torch.int16)


@guarded("diagnosis.ignored_labels")
def all_ignored(batch: Batch | None) -> tuple[str, str]:
    """The labels whose values are all one negative number, which a loss ignores: path, and in words `all 56 values of
    batch['labels'] are -100`; empty where there are none. Syncs the host."""
    for path, leaf in batch.tensors() if batch is not None else ():
        if leaf.dtype not in LABELS or not leaf.numel() or leaf.is_meta:
            continue
        low, high = int(leaf.min()), int(leaf.max())
        if low == high < 0:
            return path, f"all {leaf.numel()} values of {path} are {low}"
    return "", ""
