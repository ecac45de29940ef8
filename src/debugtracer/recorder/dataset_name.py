"""What a dataset is called in lists of samples and places of a loader: its class and its length."""

from __future__ import annotations

from typing import Any


def dataset_name(dataset: Any) -> str:
    """Name a dataset by its class and length: `TensorDataset of 640 samples`."""
    return f"{type(dataset).__name__} of {dataset_length(dataset)} samples"


def dataset_length(dataset: Any) -> int | None:
    """Count the samples; None for a stream."""
    try:
        return len(dataset)
    except Exception:
        return None  # `__len__` is the user's code and may do anything
